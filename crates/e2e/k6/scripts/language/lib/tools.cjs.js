let n = 0;
exports.next = () => ++n;
exports.name = require('./deeper/name.cjs.js').name;
