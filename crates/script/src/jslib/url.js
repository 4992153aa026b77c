// url: the URL classes that the web has.

const { URL, URLSearchParams } = globalThis;

export { URL, URLSearchParams };
export default { URL, URLSearchParams };
