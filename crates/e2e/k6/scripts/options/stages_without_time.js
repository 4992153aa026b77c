// Stages without a duration are none, and where no other is left it is one iteration.
export const options = { stages: [{ target: 3 }, {}], vus: 2 };
export default function () { console.log(__VU); }
