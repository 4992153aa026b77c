// Cleared timers do not fire.
export default function () { const a = setTimeout(() => console.log('never'), 10); setTimeout(() => console.log('fires'), 15); clearTimeout(a); clearTimeout(a); clearTimeout(9999); clearTimeout(undefined); console.log(a > 0); }
