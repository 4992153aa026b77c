// Two ways to say how long.
export const options = { iterations: 5, stages: [{ duration: '1s', target: 1 }] };
export default function () {}
