// A duration that is none.
export const options = { duration: 'soon' };
export default function () {}
