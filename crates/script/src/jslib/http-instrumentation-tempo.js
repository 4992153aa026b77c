
// http-instrumentation-tempo: each request starts a trace of its own.

function randomHex(digits) {
  let text = '';
  while (text.length < digits) text += Math.floor(Math.random() * 16).toString(16);
  return text;
}

/** A trace id that begins as k6's do: a prefix, a code, and the time in milliseconds, in hex. */
function newTraceId() {
  const time = Date.now().toString(16).padStart(12, '0');
  return `dc0718${time}${randomHex(14)}`;
}

const PROPAGATORS = {
  w3c: (trace, sampled) => ({ traceparent: `00-${trace}-${randomHex(16)}-0${sampled ? 1 : 0}` }),
  jaeger: (trace, sampled) => ({ 'uber-trace-id': `${trace}:${randomHex(8)}:0:${sampled ? 1 : 0}` }),
};

export class Client {
  constructor({ propagator = 'w3c', sampling = 1 } = {}) {
    if (!PROPAGATORS[propagator]) throw new Error(`unknown propagator: ${propagator}`);
    const headersOf = () => {
      const trace = newTraceId();
      exec.vu.metrics.metadata.trace_id = trace;
      return PROPAGATORS[propagator](trace, Math.random() < sampling);
    };
    const forget = () => delete exec.vu.metrics.metadata.trace_id;
    Object.assign(this, wrapped(headersOf, forget));
  }
}

/** Makes every request of k6/http carry a trace. */
export function instrumentHTTP(options) {
  Object.assign(http, new Client(options));
}

export default { Client, instrumentHTTP };
