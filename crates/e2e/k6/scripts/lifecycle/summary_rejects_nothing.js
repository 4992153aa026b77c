//@ stdout
// A rejection without a reason returns nothing: the usual summary is shown.
export default function () {}
export function handleSummary() {
  return Promise.reject();
}
