// Timers of init end before it does.
setTimeout(() => console.log('init timer', __VU), 5);
export default function () { console.log('iteration'); }
