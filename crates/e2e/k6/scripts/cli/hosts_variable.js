//@ env: K6_HOSTS={"a.test":"127.0.0.1"}
// There is no such variable.
import exec from 'k6/execution';
export default function () { console.log(JSON.stringify(exec.test.options.hosts)); }
