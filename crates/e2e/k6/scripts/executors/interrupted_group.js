// A group that the end of its iteration cuts short has no duration.
import { group, sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
export default function () { group('done', () => {}); group('cut', () => { group('within', () => {}); sleep(5); }); }
