// The next iteration begins when nothing is pending.
export const options = { iterations: 2 };
export default function () { setTimeout(() => console.log('end of', __ITER), 30); console.log('begin of', __ITER); }
