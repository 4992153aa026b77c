// An exception in init.
function broken() { throw new Error('in init'); }
broken();
export default function () {}
