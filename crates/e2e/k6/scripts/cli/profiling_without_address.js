//@ args: --profiling-enabled
// There is nowhere to ask for a profile.
export default function () {}
