// Options may be computed, from files and variables too.
const file = JSON.parse(open('./files/plan.json'));
export const options = { iterations: file.iterations, tags: { from: __ENV.WHERE || 'nowhere' } };
export default function () { console.log(__ITER); }
