// The parts by name.
import { scenario, vu, test, instance } from 'k6/execution';
export default function () { console.log(scenario.name, vu.idInTest, typeof test.abort, instance.iterationsCompleted); }
