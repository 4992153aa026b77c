//@ env: K6_SECRET_SOURCE=
// k6 refuses this variable where it is empty.
export default function () {}
