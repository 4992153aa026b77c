// An interruption is no exception: neither catch nor finally runs.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
export default function () { try { sleep(10); } catch (e) { console.log('caught'); } finally { console.log('finally'); } }
