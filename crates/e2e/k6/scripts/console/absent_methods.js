// What browsers have and k6 has not.
export default function () {
  for (const name of ['log', 'info', 'debug', 'warn', 'error', 'table', 'assert', 'trace', 'group', 'dir', 'time']) console.log(name, typeof console[name]);
}
