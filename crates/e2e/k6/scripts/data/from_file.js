// From a file, opened within.
import { SharedArray } from 'k6/data';
const rows = new SharedArray('rows', () => open('./files/rows.csv').trim().split('\n').map((line) => line.split(',')));
export default function () { console.log(rows.length, rows[1][0], rows[2][1]); }
