// Program counters and columns are not compared.
const shown = (text) => JSON.stringify(text.replace(/file:[^ ]*\//g, '').replace(/(:\d+):\d+(\(\d+\))?/g, '$1'));
const show = (what, e) => console.log(what, shown(e.stack), Object.getOwnPropertyNames(e).join());

class Named extends Error {
  constructor(message) {
    super(message);
    this.name = 'Named';
  }
}
class Getter extends TypeError {
  get name() {
    return 'Got';
  }
}
class Plain extends Error {}

const early = new Error('made in init');
const made = (() => () => new Error('by an arrow'))();

function caught(what, body) {
  try {
    body();
  } catch (e) {
    show(what, e);
  }
}

export default function () {
  show('init', early);
  show('error', new Error('a'));
  show('without a message', new Error());
  show('empty', new Error(''));
  show('called', Error('no new'));
  show('cause', new Error('outer', { cause: new Error('inner') }));
  show('several', new AggregateError([new Error('x')], 'all'));
  for (const e of [new Named('n'), new Getter('g'), new Plain('p')]) show('class', e);
  show('arrow', made());
  caught('null', () => null.x);
  caught('unknown', () => unknown);
  caught('json', () => JSON.parse('{'));
  caught('native', () => [1].map(function named() { throw new Error('in map'); }));
  caught('replace', () => 'a'.replace(/a/, () => { throw new Error('in replace'); }));
  caught('getter', () => ({ get foo() { throw new Error('in a getter'); } }).foo);
  caught('generator', () => (function* made() { throw new Error('in a generator'); })().next());
  caught('eval', () => eval('throw new Error("in eval")'));
  caught('function', () => new Function('a', 'return a.b.c')({}));

  const later = new Error('first');
  later.name = 'Later';
  later.message = 'second';
  console.log(shown(later.stack), later.hasOwnProperty('stack'), 'stack' in Error.prototype);
  later.name = 'Again';
  console.log(shown(later.stack), JSON.stringify(later), Object.keys(later).length);
  const { value, ...how } = Object.getOwnPropertyDescriptor(new Error('d'), 'stack');
  console.log(shown(value), JSON.stringify(how));
  later.stack = 'set';
  console.log(later.stack, delete later.stack, later.stack);

  const deep = (n) => { if (n) deep(n - 1); else throw new Error('deep'); };
  try { deep(30); } catch (e) { console.log(e.stack.split('\n').length); }
  Promise.reject(new Named('rejected')).catch((e) => show('rejection', e));
  setTimeout(function timer() { show('timer', new Error('t')); }, 1);
  (async function waits() { await null; show('async', new Error('w')); })();
}
