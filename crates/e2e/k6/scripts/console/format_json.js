//@ args: --log-format json --log-output file=log.txt
//@ log: none
// A log of JSON lines in a file.
export default function () { console.log('hello'); }
