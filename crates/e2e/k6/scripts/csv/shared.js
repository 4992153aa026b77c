//@ log: sorted
// All virtual users see the same rows; a parser is each one's own.
import { open } from 'k6/experimental/fs';
import { Parser, parse } from 'k6/experimental/csv';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };
const rows = await parse(await open('./files/a.csv'), { asObjects: true });
const parser = new Parser(await open('./files/a.csv'), { asObjects: true });
export default async function () { const { done, value } = await parser.next(); console.log(__VU, __ITER, rows.length, rows[1].name, rows.map((row) => row.age).join('|'), done, value.name); }
