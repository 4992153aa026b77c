//@ args: --log-format raw
// Only the messages.
export default function () { console.log('raw', { a: 1 }); console.error('error'); throw new Error('thrown'); }
