// What require() and open() make of arguments that are no names.
const tell = (name, get) => {
  try { console.log(name, typeof get()); } catch (e) { console.log(name, String(e).replace(/[^ "]*\/language\//, '').slice(0, 90)); }
};
for (const [name, value] of Object.entries({ empty: '', null: null, undefined, number: 5, object: {} })) {
  tell(`require ${name}`, () => require(value));
  tell(`open ${name}`, () => open(value));
}
tell('require nothing', () => require());
tell('require missing', () => require('./lib/not_there.js'));
tell('open nothing', () => open());
for (const mode of [5, null, undefined, 'B', 'b']) tell(`mode ${mode}`, () => open('./require_arguments.js', mode));
export default function () {}
