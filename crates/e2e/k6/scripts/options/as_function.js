// Options that are no object.
export const options = 5;
export default function () { console.log('runs'); }
