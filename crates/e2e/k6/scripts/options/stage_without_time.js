// A stage without a duration is none.
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { stages: [{ target: 3 }, { duration: '200ms', target: 0 }], vus: 1 };
export function setup() { console.log(JSON.stringify(exec.test.options.scenarios)); }
export default function () { sleep(0.5); }
