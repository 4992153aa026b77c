// Variables that namespaces export are one with their members, from within and from without.
namespace Counter {
  export let count: number = 0, step = 2;
  export function up(by: number = step): number { return (count += by); }
  export var last;
  export namespace Deep {
    export let { a, b: [c] } = { a: 1, b: [2] };
    export const both = (): number => { a++; return (c += count); };
  }
  export const fixed = 5;
  export declare let ghost: number;
}
namespace Outer.Inner { export let seen: string[] = []; export const see = (what: string) => { seen = [...seen, what]; }; }
console.log(Counter.up(), Counter.up(3), Counter.count, Counter.step, Counter.Deep.both(), Counter.Deep.a, Counter.Deep.c);
Counter.count = 40; Counter.step = 1; Counter.last = 'x';
console.log(Counter.up(), Counter.count, Counter.last, JSON.stringify(Counter.Deep), Counter.fixed, 'ghost' in Counter);
Outer.Inner.see('a'); Outer.Inner.see('b');
console.log(Outer.Inner.seen.join());
export default function (): void { console.log(Counter.up()); }
