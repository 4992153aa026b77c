//@ env: K6_CONFIG=
// k6 refuses this variable where it is empty.
export default function () {}
