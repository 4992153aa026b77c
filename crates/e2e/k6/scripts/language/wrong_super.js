// super() outside a class.
function f() {
  super();
}
export default function () {}
