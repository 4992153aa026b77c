//@ args: --compatibility-mode base
// Only the extended mode has `global`.
export default function () {
  console.log(typeof global, typeof globalThis);
}
