// What is not there in init.
import exec from 'k6/execution';
const tell = (f) => { try { console.log(String(f())); } catch (e) { console.log(e.message); } };
tell(() => exec.scenario.name); tell(() => exec.vu.idInTest); tell(() => exec.instance.vusActive); tell(() => exec.test.options.vus); tell(() => exec.vu.tags); tell(() => exec.instance.iterationsCompleted);
export default function () {}
