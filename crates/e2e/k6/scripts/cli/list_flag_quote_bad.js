//@ args: --system-tags a"
// A quote within a text is an error.
export default function () {}
