// Types, enums, namespaces, generics and parameter properties go; what remains runs.
import { check } from 'k6';
import { greet, type Person } from './lib/person.ts';
interface Shape { kind: 'circle' | 'square'; size?: number }
enum Level { Low = 1, High = 5 }
namespace Space { export const answer: number = 42; }
type Pair<T> = [T, T];
class Point { constructor(public readonly x: number, private y: number) {} sum(): number { return this.x + this.y; } }
function first<T>(pair: Pair<T>): T { return pair[0]; }
abstract class Base { abstract name(): string; hello(): string { return `hello ${this.name()}`; } }
class Derived extends Base { override name() { return 'derived'; } }
export const options = { iterations: 1 } satisfies { iterations: number };
export default function (): void {
  const shape = { kind: 'circle', size: 2 } as Shape;
  const who: Person = { name: 'ann' };
  console.log(shape.kind, shape.size!, Level.High, Level[1], Space.answer, first<string>(['a', 'b']), new Point(1, 2).sum(), greet(who), new Derived().hello());
  check(shape, { 'has a size': (s: Shape) => s.size === 2 });
}
