//@ env: K6_TRACES_OUTPUT=
// k6 refuses this variable where it is empty.
export default function () {}
