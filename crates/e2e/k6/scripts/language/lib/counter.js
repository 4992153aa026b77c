export let count = 1;
export function bump() { count += 1; }
const hidden = 'renamed';
export { hidden as rename };
export default () => 'default export';
