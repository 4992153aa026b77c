// The order of timers, promises and plain code.
export default function () {
  setTimeout(() => console.log('timer 0'), 0); setTimeout(() => console.log('timer 20'), 20); setTimeout(() => console.log('timer 10'), 10);
  Promise.resolve().then(() => console.log('micro 1')).then(() => console.log('micro 2'));
  (async () => { console.log('async start'); await null; console.log('async end'); })();
  console.log('sync');
}
