//@ stdin
// A script on standard input may hold types.
const answer: number = 42;
export default function (data: unknown): void { console.log(answer, typeof data, __VU as number); }
