// An exception in a timer.
export const options = { iterations: 2 };
export default function () { setTimeout(() => { throw new Error('in a timer'); }, 5); setTimeout(() => console.log('second timer', __ITER), 400); }
