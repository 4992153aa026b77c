// The same of a script that is CommonJS itself.
function inner() {
  throw new TypeError('of the script');
}
try {
  require('./lib/throws.cjs.js');
} catch (error) {
  console.log(error.stack.split('\n').filter((line) => line.includes('://')).length);
}
inner();
