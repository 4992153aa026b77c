// A port that is no number.
export const options = { hosts: { 'a.test': '127.0.0.1:x' } };
export default function () {}
