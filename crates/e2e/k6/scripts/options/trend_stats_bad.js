// A statistic that there is not.
export const options = { summaryTrendStats: ['middle'] };
export default function () {}
