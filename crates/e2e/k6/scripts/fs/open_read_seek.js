// Opening, reading and seeking, and what is refused.
import { open, SeekMode } from 'k6/experimental/fs';
import * as all from 'k6/experimental/fs';
console.log(typeof all.open, SeekMode.Start, SeekMode.Current, SeekMode.End);
const tell = async (name, f) => { try { console.log(name, JSON.stringify(await f())); } catch (e) { console.log(name, 'threw', e.name, '|', String(e).replace(/"\/.*\/scripts/, '"')); } };
const cut = (p) => p && p.split('/').slice(-2).join('/');
const file = await open('./files/digits.txt');
console.log(cut(file.path), typeof file.read, typeof file.seek, typeof file.stat, cut(JSON.parse(JSON.stringify(file)).path));
await tell('none', () => open('./none.txt'));
await tell('dir', () => open('./files'));
await tell('empty', () => open(''));
await tell('undefined', () => open());
await tell('null', () => open(null));
await tell('number', () => open(5));
await tell('scheme', async () => cut((await open('file://' + file.path)).path));
await tell('dots', async () => cut((await open('./files/../files//digits.txt')).path));
console.log(open('./files/digits.txt') instanceof Promise);
export default async function () {
  await tell('late', () => open('./files/digits.txt'));
  await tell('stat', () => file.stat());
  const buf = new Uint8Array(4);
  const text = (b) => String.fromCharCode(...b);
  for (let i = 0; i < 4; i++) await tell('read' + i, async () => [await file.read(buf), text(buf)]);
  await tell('seek0', () => file.seek(0, SeekMode.Start));
  await tell('big', async () => { const b = new Uint8Array(20); return [await file.read(b), text(b)]; });
  await tell('big again', async () => { const b = new Uint8Array(20); return [await file.read(b), text(b)]; });
  await tell('exact', async () => { await file.seek(0, 0); const b = new Uint8Array(10); return [await file.read(b), text(b), await file.read(b)]; });
  await tell('zero', async () => { await file.seek(0, 0); const b = new Uint8Array(0); return [await file.read(b)]; });
  await tell('zero at end', async () => { await file.seek(0, 0); await file.read(new Uint8Array(10)); return [await file.read(new Uint8Array(0))]; });
  for (const args of [[2, SeekMode.Start], [3, SeekMode.Current], [-2, SeekMode.Current], [0, SeekMode.End], [-3, SeekMode.End], [1, SeekMode.End], [-1, SeekMode.Start], [10, SeekMode.Start], [11, SeekMode.Start], [-100, SeekMode.Current], [-100, SeekMode.End], [1.5, 0], ['1', 0], [null, 0], [undefined, 0], [], [0], [0, 3], [0, -1], [0, 'x'], [0, null], [NaN, 0], [true, 0], [{}, 0], [1n, 0], [2.0, 0], [0, 1.5]]) await tell('seek ' + args.map(String).join(), () => file.seek(...args));
  for (const into of [undefined, null, [], new Uint16Array(2), new ArrayBuffer(4), 'text', {}, 5, new Uint8ClampedArray(3), new DataView(new ArrayBuffer(2))]) await tell('into', () => file.read(into));
  await file.seek(0, 0);
}
