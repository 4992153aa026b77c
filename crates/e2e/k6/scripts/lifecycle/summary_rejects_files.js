//@ stdout
// The reason of a rejected promise is written like a return value.
export default function () {}
export async function handleSummary() {
  throw { stdout: 'reason\n' };
}
