//@ env: K6_THRESHOLDS=iterations:,http_reqs:
// Metrics without conditions.
export default function () {}
