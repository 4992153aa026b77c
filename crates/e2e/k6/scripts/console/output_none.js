//@ args: --log-output none
// No log at all.
export default function () { console.log('nothing'); }
