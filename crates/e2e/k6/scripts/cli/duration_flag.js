//@ args: --vus 2 --duration 1s
// A time.
import { sleep } from 'k6';
export default function () { sleep(0.6); }
