//@ args: -e K6_OUT=csv={TMP}/out.csv -e K6_CSV_TIME_FORMAT=nope
//@ plain
// Variables of an output may be set by -e too.
export default function () {}
