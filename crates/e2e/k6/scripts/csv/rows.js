// Rows one by one and as a shared array, and what is refused.
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
import * as all from 'k6/experimental/csv';
console.log(typeof all.parse, typeof all.Parser);
const sorted = (v) => JSON.stringify(v, (k, x) => (x && typeof x === 'object' && !Array.isArray(x) ? Object.fromEntries(Object.entries(x).sort()) : x));
const tell = async (name, f) => { try { console.log(name, sorted(await f())); } catch (e) { console.log(name, 'threw', String(e)); } };
const cases = [['a', {}], ['a', undefined], ['a', { asObjects: true }], ['a', { skipFirstLine: true }], ['a', { fromLine: 1 }], ['a', { fromLine: 2 }], ['a', { toLine: 1 }], ['a', { fromLine: 1, toLine: 2 }], ['a', { fromLine: 2, toLine: 2 }], ['a', { fromLine: 3, toLine: 2 }], ['a', { fromLine: -1 }], ['a', { toLine: -1 }], ['a', { fromLine: 99 }], ['a', { asObjects: true, skipFirstLine: true }], ['a', { asObjects: true, fromLine: 1 }], ['a', { asObjects: true, fromLine: 0 }], ['a', { asObjects: true, toLine: 2 }], ['a', { delimiter: ';' }], ['a', { delimiter: ';;' }], ['a', { delimiter: 'é' }], ['a', { delimiter: '"' }], ['a', { delimiter: '\n' }], ['a', { delimiter: 5 }], ['a', { skipFirstLine: true, fromLine: 2 }], ['a', { skipFirstLine: true, fromLine: 0, toLine: 1 }], ['a', { skipFirstLine: 'yes' }], ['a', { fromLine: '1' }], ['a', { fromLine: 1.7 }], ['a', { toLine: 0 }], ['a', { fromLine: 0, toLine: 0 }], ['a', { other: 1 }], ['semi', { delimiter: ';' }], ['semi', { delimiter: ';', asObjects: true }], ['short', {}], ['short', { asObjects: true }], ['quotes', {}], ['empty', {}], ['empty', { asObjects: true }], ['empty', { skipFirstLine: true }], ['empty', { fromLine: 1 }]];
for (const [name, options] of cases) {
  const label = `${name} ${JSON.stringify(options)}`;
  await tell('parse ' + label, async () => csv.parse(await open(`./files/${name}.csv`), options));
  await tell('Parser ' + label, async () => { const p = new csv.Parser(await open(`./files/${name}.csv`), options); const seen = []; for (let i = 0; i < 6; i++) { try { const r = await p.next(); seen.push(r); if (r.done) break; } catch (e) { seen.push(String(e)); } } return seen; });
}
await tell('null file', () => csv.parse(null));
await tell('object file', () => csv.parse({}));
await tell('no parser file', () => new csv.Parser());
await tell('null parser file', () => new csv.Parser(null));
await tell('null options', async () => csv.parse(await open('./files/a.csv'), null));
await tell('null parser options', async () => { new csv.Parser(await open('./files/a.csv'), null); });
await tell('number options', async () => csv.parse(await open('./files/a.csv'), 5));
await tell('unknown delimiter', async () => csv.parse(await open('./files/a.csv'), { delimiter: undefined }));
await tell('call', async () => { const f = await open('./files/a.csv'); const p = csv.Parser(f); return p; });
const f = await open('./files/a.csv');
const data = await csv.parse(f, { skipFirstLine: true });
console.log(Array.isArray(data), data.length, Object.prototype.toString.call(data), Object.isFrozen(data[0]));
await tell('write', () => { 'use strict'; data[0] = 1; });
const p = new csv.Parser(await open('./files/a.csv'));
export default async function () {
  console.log(data.length, JSON.stringify(data[__ITER % data.length]), JSON.stringify(await p.next()));
  await tell('late', () => new csv.Parser(f));
  await tell('late parse', () => csv.parse(f, { toLine: 1 }));
}
