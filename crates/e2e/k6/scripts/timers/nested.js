// Timers made by timers, and sleeping among them.
import { sleep } from 'k6';
export default async function () { setTimeout(() => { console.log('outer'); setTimeout(() => console.log('inner'), 1); }, 1); sleep(0.02); console.log('slept'); await new Promise((r) => setTimeout(r, 10)); console.log('awaited'); }
