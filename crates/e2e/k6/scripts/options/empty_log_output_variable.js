//@ env: K6_LOG_OUTPUT=
// k6 refuses this variable where it is empty.
export default function () {}
