//@ stdin
// A script on standard input; files are found from the working folder.
export const options = { iterations: 2 };
export default function () { if (__ITER === 1) throw new Error('with a place'); console.log('from stdin'); }
