// A module that throws while it is required: as often as asked, and the run goes on.
for (const time of ['first', 'again']) {
  try { require('./lib/throws.cjs.js'); } catch (e) { console.log(time, String(e)); }
}
exports.default = () => {};
