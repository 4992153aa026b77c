// An await at the top of a module.
const value = await new Promise((resolve) => setTimeout(() => resolve('ready'), 10));
export const options = { iterations: await Promise.resolve(2) };
export default function () { console.log(value, __ITER); }
