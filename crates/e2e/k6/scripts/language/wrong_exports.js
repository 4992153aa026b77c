// A name that is exported twice.
export const a = 1;
export const a = 2;
export default function () {}
