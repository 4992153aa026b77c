// More messages of errors of the language.
export default function () {
  const tests = [
    () => 1n + 1, () => 2 * 2n, () => 1n - 1.5, () => 2n ** 2, () => Object.defineProperty(1, 'x', {}), () => 'a'.matchAll(/a/), () => 'a'.replaceAll(/a/, ''),
    () => new Map([1]), () => Symbol.keyFor('x'), () => 1n + 2n, () => 1n < 2,
  ];
  for (const test of tests) {
    try {
      console.log(String(test), 'gives', test());
    } catch (e) {
      console.log(String(test), String(e));
    }
  }
}
