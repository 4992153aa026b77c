// await in a function that is not asynchronous.
export default function () {
  [1, 2].forEach((n) => {
    await n;
  });
}
