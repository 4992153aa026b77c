// What both http-instrumentation libraries share: requests of k6/http with headers added.

import http from 'k6/http';
import exec from 'k6/execution';

/** Functions of k6/http by how many arguments stand before their parameters. */
const PLACES = { get: 1, head: 1, post: 2, put: 2, patch: 2, del: 2, options: 2, request: 3, asyncRequest: 3 };

const original = {};
for (const name of [...Object.keys(PLACES), 'batch']) original[name] = http[name];

function withHeaders(params, headers) {
  return { ...params, headers: { ...params?.headers, ...headers } };
}

function batchItem(item, headers) {
  if (typeof item === 'string') return ['GET', item, null, withHeaders({}, headers)];
  if (Array.isArray(item)) return [item[0], item[1], item[2] ?? null, withHeaders(item[3], headers)];
  return { ...item, params: withHeaders(item.params, headers) };
}

/**
 * The functions of k6/http that put what `headersOf(url, params)` gives into every request; `done()` is
 * called once each has begun, or has ended where it waits.
 */
function wrapped(headersOf, done = () => {}) {
  const made = {};
  const ended = (call) => {
    try {
      return call();
    } finally {
      done();
    }
  };
  for (const [name, place] of Object.entries(PLACES)) {
    const url = name === 'request' || name === 'asyncRequest' ? 1 : 0;
    made[name] = (...args) => {
      while (args.length < place) args.push(null);
      args[place] = withHeaders(args[place], headersOf(args[url], args[place]));
      return ended(() => original[name](...args));
    };
  }
  const instrumented = (item) => {
    const [url, params] = typeof item === 'string' ? [item] : Array.isArray(item) ? [item[1], item[3]] : [item.url, item.params];
    return batchItem(item, headersOf(url, params));
  };
  made.batch = (requests) => ended(() => {
    if (Array.isArray(requests)) return original.batch(requests.map(instrumented));
    const named = Object.entries(requests).map(([name, one]) => [name, instrumented(one)]);
    return original.batch(Object.fromEntries(named));
  });
  return made;
}
