//@ before: archive -O {TMP}/a.tar {SCRIPT}
//@ operand: {TMP}/a.tar
// An archive carries the files that are opened.
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('./files/digits.txt');
const rows = await csv.parse(await open('./files/../files/digits.txt'));
export default async function () { const buffer = new Uint8Array(20); console.log(await file.read(buffer), JSON.stringify(await file.stat()), JSON.stringify(rows)); }
