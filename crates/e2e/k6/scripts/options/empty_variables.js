//@ env: K6_TAGS=
//@ env: K6_THRESHOLDS=
//@ env: K6_SYSTEM_TAGS=
//@ env: K6_BLACKLIST_IPS=
//@ env: K6_BLOCK_HOSTNAMES=
//@ env: K6_STAGES=
//@ env: K6_TLSAUTH=
//@ env: K6_USER_AGENT=
//@ env: K6_VUS=null
//@ env: K6_SUMMARY_MODE=
// A variable that is set and empty is an empty list, or none where the option is no list.
import exec from 'k6/execution';
export const options = {
  tags: { a: '1' }, thresholds: { iterations: ['count>5'] }, systemTags: ['url', 'vu'], blacklistIPs: ['10.0.0.0/8'],
  blockHostnames: ['x.y'], userAgent: 'own', vus: 3,
};
export function setup() {
  const options = exec.test.options;
  const set = Object.keys(options).filter((key) => options[key] !== null && options[key] !== undefined);
  for (const key of set.sort()) { console.log(key, JSON.stringify(options[key])); }
}
export default function () {}
