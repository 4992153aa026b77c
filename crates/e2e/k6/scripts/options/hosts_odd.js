// Names and addresses that are taken although they stand for nothing.
export const options = { hosts: { '*': 'x', '*.': '1.2.3:80', 'A.test:80': ':80', '*a.test': '127.0.0.1:+5' } };
export default function () {}
