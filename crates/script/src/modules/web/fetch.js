import { fault, remainingMs, watch } from "loadline:web/events";
import { Request, answered, bodyOf } from "loadline:web/bodies";

const { send } = import.meta.native;

// The most redirects that are followed (Fetch, section 4.4).
const REDIRECTS_MAX = 20;
// As k6's own client waits.
const TIMEOUT_MS = 60000;

// What the client is told beside method, address and body.
const params = (request, init, timeout) => ({
  headers: Object.fromEntries(request.headers),
  redirects: request.redirect === "follow" ? REDIRECTS_MAX : 0,
  responseType: "binary",
  timeout,
  tags: init?.tags,
});

const isRedirect = ({ status, headers }) =>
  [301, 302, 303, 307, 308].includes(status) && headers.some(([name]) => name.toLowerCase() === "location");

const shown = (request, facts) => {
  if (isRedirect(facts) && request.redirect !== "manual") {
    throw new TypeError(request.redirect === "error" ? "fetch failed: unexpected redirect" : "fetch failed: too many redirects");
  }
  return answered(facts);
};

/*
 * As the web's, over the virtual user's own connections and cookie jar; `credentials: "omit"` leaves
 * cookies out. Each hop is recorded like one of `http.request`; `init.tags` are tags of these. The
 * answer comes when all of it was received, so `response.body` gives chunks of what is there. An
 * answer that is not waited for any more because its signal aborted is still received, up to the
 * deadline that the signal itself has.
 */
export async function fetch(input, init) {
  const request = new Request(input, init);
  const { signal } = request;
  signal.throwIfAborted();
  const body = await bodyOf(request);
  signal.throwIfAborted();
  const timeout = Math.min(remainingMs(signal), TIMEOUT_MS);
  let unwatch;
  const aborted = new Promise((_, reject) => {
    unwatch = watch(signal, reject);
  });
  const given = params(request, init, timeout);
  const sent = send(request.method, request.url, body?.slice().buffer, given, request.credentials !== "omit");
  try {
    return shown(request, await Promise.race([sent, aborted]));
  } catch (error) {
    signal.throwIfAborted();
    if (error?.name === "TimeoutError") throw fault("TimeoutError", error.message);
    throw error;
  } finally {
    unwatch();
  }
}
