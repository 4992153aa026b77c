// The same by import.
import { setTimeout as later, clearTimeout as clear, setInterval as every, clearInterval as stop } from 'k6/timers';
export default function () { later(() => console.log('later'), 5); clear(later(() => console.log('never'), 1)); const id = every(() => { console.log('every'); stop(id); }, 1); }
