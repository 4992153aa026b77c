// A unit that there is not.
export const options = { summaryTimeUnit: 'hours' };
export default function () {}
