// Starts without a free virtual user are dropped; their samples have no tags of the scenario's virtual users.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 10, duration: '1050ms', preAllocatedVUs: 1, tags: { kind: 'slow' } } } };
export default function () { sleep(5); }
