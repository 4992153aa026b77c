//@ args: --console-output console.txt
//@ file: console.txt
// What the init context says goes to the log, the rest to the file.
console.log('init');
export function setup() {
  console.log('setup');
}
export default function () {
  console.log('iteration');
}
