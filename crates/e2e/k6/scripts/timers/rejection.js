// A rejection that nobody handles is told, and the iteration ends well.
import { check } from 'k6';
export default function () { Promise.reject(new Error('unhandled')); Promise.reject(new Error('handled')).catch(() => console.log('caught')); check(1, { c: true }); }
