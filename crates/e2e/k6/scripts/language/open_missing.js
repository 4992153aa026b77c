//@ log: levels
// A file that is not there.
const text = open('./lib/no_such_file.txt');
export default function () { console.log(text); }
