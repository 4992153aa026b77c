// Traces of asynchronous functions go on with those that await them.
const shown = (e) => String(e.stack).split('\n').slice(1).map((line) =>
  line.replace(/^\tat /, '').replace(/file:[^ ]*\//, '').replace(/\(\d+\)/, '').replace('(native)', 'native')).join(' ; ');

async function inner() { await null; throw new RangeError('deep'); }
async function middle() { await inner(); }
async function kept() { const x = await middle(); return x; }
async function returned() { return middle(); }
async function together() { await Promise.all([middle()]); }
async function twice() { const p = middle(); p.then(() => { }, () => { }); await p; }
const arrow = async () => { await middle(); };
class C { async method() { await middle(); } }

export default async function () {
  for (const [name, f] of Object.entries({ inner, middle, kept, returned, together, twice, arrow, method: () => new C().method() })) {
    try { await f(); } catch (e) { console.log(name, shown(e)); }
  }
  await middle();
}
