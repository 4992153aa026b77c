//@ args: --console-output console.txt
//@ file: console.txt
//@ not: iteration_duration
// The console goes to a file; other lines do not.
export default function () {
  console.log('to the file', { a: 1 });
  console.error('too');
  throw new Error('elsewhere');
}
