//@ args: --tag= --env= --system-tags= --blacklist-ip= --block-hostnames= --local-ips= --dns= --summary-time-unit=
//@ args: --console-output= --summary-mode= --compatibility-mode= --type= --user-agent=
//@ env: K6_TAGS=a:b
//@ env: K6_SUMMARY_TIME_UNIT=ms
//@ env: K6_DNS=ttl=1m
// A flag with an empty value leaves most options to the lower tiers.
import exec from 'k6/execution';
export const options = { systemTags: ['url'], blacklistIPs: ['10.0.0.0/8'], blockHostnames: ['x.y'], userAgent: 'own' };
export function setup() {
  const options = exec.test.options;
  const set = Object.keys(options).filter((key) => options[key] !== null && options[key] !== undefined);
  for (const key of set.sort()) { console.log(key, JSON.stringify(options[key])); }
}
export default function () {}
