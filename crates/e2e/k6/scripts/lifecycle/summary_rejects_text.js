// A text is no map, so that it cannot be written.
export default function () {}
export function handleSummary() {
  return Promise.reject('text');
}
