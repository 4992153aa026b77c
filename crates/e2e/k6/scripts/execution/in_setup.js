// What is there in setup and teardown.
import exec from 'k6/execution';
const tell = (f) => { try { console.log(String(f())); } catch (e) { console.log(e.message); } };
export function setup() { tell(() => exec.vu.idInTest); tell(() => exec.scenario.name); tell(() => exec.instance.vusInitialized); tell(() => exec.test.options.iterations); }
export default function () {}
export function teardown() { tell(() => exec.vu.idInInstance); tell(() => exec.scenario.name); tell(() => exec.instance.iterationsCompleted); }
