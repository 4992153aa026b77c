export const early = require('./own.js').place;
export const late = () => require('./own.js').place;
export const lent = require;
