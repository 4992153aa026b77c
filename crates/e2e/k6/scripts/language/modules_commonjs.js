// A CommonJS script that requires builtin and own modules.
const { check, sleep } = require('k6');
const http = require('k6/http');
const tools = require('./lib/tools.cjs.js');
module.exports.options = { iterations: 2 };
module.exports.default = function () {
  const res = http.get(`${__ENV.BASE}/get?x=${tools.next()}`);
  check(res, { 'is 200': (r) => r.status === 200 });
  console.log(res.json('args.x.0'), tools.name, typeof sleep, typeof http.default);
};
