globalThis.seen = 'the import has run';
export const unused = 1;
