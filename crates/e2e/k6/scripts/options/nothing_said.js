// Options that say nothing.
import exec from 'k6/execution';
export const options = { tags: {}, systemTags: ['none'], tlsCipherSuites: [], tlsVersion: '', dns: { speed: 5 }, teardownTimeout: 0 };
export function setup() {
  const options = exec.test.options;
  const set = Object.keys(options).filter((key) => options[key] !== null && options[key] !== undefined);
  for (const key of set.sort()) { console.log(key, JSON.stringify(options[key])); }
}
export default function () {}
