// Warnings about the options precede the error.
export const options = { colour: 'red' };
