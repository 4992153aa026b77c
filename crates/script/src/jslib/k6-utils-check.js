
import { check as builtinCheck } from 'k6';

function isPromise(value) {
  return value !== null && typeof value === 'object' && typeof value.then === 'function';
}

/**
 * `check` of k6 whose conditions may give promises. Gives a promise when one is among them, a boolean
 * otherwise. A value that is a promise is given to the conditions as it is.
 */
export function check(value, sets, tags) {
  const results = {};
  const waiting = [];
  for (const [name, condition] of Object.entries(sets)) {
    const result = typeof condition === 'function' ? condition(value) : condition;
    if (isPromise(result)) {
      waiting.push(result.then((settled) => { results[name] = settled; }));
    }
    results[name] = result;
  }
  const record = () => {
    const outcomes = Object.entries(results).map(([name, result]) => [name, !!result]);
    return builtinCheck(null, Object.fromEntries(outcomes), tags ?? {});
  };
  return waiting.length > 0 ? Promise.all(waiting).then(record) : record();
}
