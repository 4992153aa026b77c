// The default export is no function.
export default { a: 1 };
