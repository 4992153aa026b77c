//@ env: K6_NO_THRESHOLDS=
// k6 refuses this variable where it is empty.
export default function () {}
