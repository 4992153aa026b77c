//@ log: levels
// A module that throws while it is required ends the test as a script that throws.
require('./lib/throws.cjs.js');
exports.default = () => {};
