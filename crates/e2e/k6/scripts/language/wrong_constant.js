// A constant without a value.
export default function () {
  const user;
}
