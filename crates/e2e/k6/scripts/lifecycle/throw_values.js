// Anything can be thrown.
export const options = { iterations: 6 };
export default function () {
  switch (__ITER) {
    case 0: throw 'text';
    case 1: throw 42;
    case 2: throw { message: 'object', code: 1 };
    case 3: throw null;
    case 4: throw new (class Special extends Error { constructor(m) { super(m); this.name = 'Special'; } })('own class');
    default: throw undefined;
  }
}
