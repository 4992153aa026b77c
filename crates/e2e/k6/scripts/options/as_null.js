// Nothing said is nothing asked.
export const options = null;
export default function () { console.log('runs'); }
