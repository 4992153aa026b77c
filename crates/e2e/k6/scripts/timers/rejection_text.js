// A rejection with what is no error.
export const options = { iterations: 3 };
export default function () { Promise.reject(['text', 42, { message: 'object' }][__ITER]); }
