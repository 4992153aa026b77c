export function f() {
  let a = 1;
  const a = 2;
  return a;
}
