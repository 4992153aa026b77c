// A stage without a duration is none.
import exec from 'k6/execution';
export const options = { stages: [{ target: 3 }, { duration: '200ms', target: 0 }], vus: 0 };
export function setup() { console.log(JSON.stringify(exec.test.options.scenarios)); }
export default function () {}
