// A rejected default function.
export const options = { iterations: 2 };
export default async function () {
  await null;
  throw new Error('rejected');
}
