// Stages as texts.
export const options = { stages: ['1s:5'], tags: { a: 'b' } };
export default function () {}
