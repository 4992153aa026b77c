// Lines of an exception are those of the source.
interface Unused {
  a: string;
  b: number;
}

type Also = Unused | null;

function thrower(x: Also): never {
  throw new Error('typed');
}
export default function (): void {
  thrower(null);
}
