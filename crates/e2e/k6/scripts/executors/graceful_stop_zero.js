// Without grace what runs is interrupted, and counts nowhere.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' } } };
export default function () { console.log('begins'); sleep(10); }
