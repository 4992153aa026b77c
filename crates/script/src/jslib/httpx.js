// httpx: a session of requests that share an address, headers, tags and other parameters.

import http from 'k6/http';

/** A request of a batch; its body is one of its parameters. */
class BatchItem {
  constructor(method, url, params = {}) {
    Object.assign(this, { method, url, body: null, params });
  }
}

const item = (method) =>
  class extends BatchItem {
    constructor(url, params) {
      super(method, url, params);
    }
  };

export class Request extends BatchItem {}
export const Get = item('GET');
export const Post = item('POST');
export const Put = item('PUT');
export const Patch = item('PATCH');
export const Delete = item('DELETE');
export const Options = item('OPTIONS');
export const Head = item('HEAD');
export const Trace = item('TRACE');

/** A request of a batch, however it is written. */
function itemOf(request) {
  if (typeof request === 'string') return new Get(request);
  if (!Array.isArray(request)) return { ...request, body: request.body ?? request.params?.body ?? null };
  const [method, url, body, params] = request;
  return { method, url, body, params };
}

function joined(base, url) {
  if (typeof url !== 'string' || /^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return url;
  return `${base}${url}`;
}

export class Httpx {
  constructor({ baseURL = '', headers = {}, tags = {}, timeout = 60000, ...rest } = {}) {
    this.baseURL = baseURL;
    this.params = { ...rest, timeout, headers: { ...headers }, tags: { ...tags } };
  }

  setBaseUrl(url) { this.baseURL = url; }
  addHeader(name, value) { this.params.headers[name] = value; }
  addHeaders(headers) { Object.assign(this.params.headers, headers); }
  clearHeader(name) { delete this.params.headers[name]; }
  addTag(name, value) { this.params.tags[name] = value; }
  addTags(tags) { Object.assign(this.params.tags, tags); }
  clearTag(name) { delete this.params.tags[name]; }

  /** Parameters of the session with those of one request laid over them. */
  merged(params) {
    return {
      ...this.params,
      ...params,
      headers: { ...this.params.headers, ...params?.headers },
      tags: { ...this.params.tags, ...params?.tags },
    };
  }

  request(method, url, body = null, params = {}) {
    return http.request(method, joined(this.baseURL, url), body, this.merged(params));
  }

  asyncRequest(method, url, body = null, params = {}) {
    return http.asyncRequest(method, joined(this.baseURL, url), body, this.merged(params));
  }

  /** Sends requests beside each other; `params` are for those that have none of their own. */
  batch(requests, params = {}) {
    const whole = (request) => {
      const { method, url, body, params: own } = itemOf(request);
      const both = {
        ...params,
        ...own,
        headers: { ...params.headers, ...own?.headers },
        tags: { ...params.tags, ...own?.tags },
      };
      return { method, url: joined(this.baseURL, url), body, params: this.merged(both) };
    };
    if (Array.isArray(requests)) return http.batch(requests.map(whole));
    const named = Object.entries(requests).map(([name, request]) => [name, whole(request)]);
    return http.batch(Object.fromEntries(named));
  }

  get(url, body, params) { return this.request('GET', url, body, params); }
  post(url, body, params) { return this.request('POST', url, body, params); }
  put(url, body, params) { return this.request('PUT', url, body, params); }
  patch(url, body, params) { return this.request('PATCH', url, body, params); }
  delete(url, body, params) { return this.request('DELETE', url, body, params); }
  options(url, body, params) { return this.request('OPTIONS', url, body, params); }
  head(url, body, params) { return this.request('HEAD', url, body, params); }
  trace(url, body, params) { return this.request('TRACE', url, body, params); }
  asyncGet(url, body, params) { return this.asyncRequest('GET', url, body, params); }
  asyncPost(url, body, params) { return this.asyncRequest('POST', url, body, params); }
  asyncPut(url, body, params) { return this.asyncRequest('PUT', url, body, params); }
  asyncPatch(url, body, params) { return this.asyncRequest('PATCH', url, body, params); }
  asyncDelete(url, body, params) { return this.asyncRequest('DELETE', url, body, params); }
}

export default new Httpx();
