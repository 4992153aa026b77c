// A name that is none.
export const options = { hosts: { 'a b': '127.0.0.1' } };
export default function () {}
