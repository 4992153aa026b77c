//@ args: --verbose --log-output file={TMP}/all.log
//@ log: none
// With --verbose the debug level is there.
export default function () { console.debug('shown'); }
