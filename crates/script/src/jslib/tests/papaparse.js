import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';

export default function () {
  const rows = papaparse.parse('a,b\n1,"x, y"\n', { header: true, skipEmptyLines: true }).data;
  console.log(JSON.stringify(rows));
  console.log(papaparse.unparse([{ a: 1, b: 'x,y' }]).replace('\r\n', '|'));
}
