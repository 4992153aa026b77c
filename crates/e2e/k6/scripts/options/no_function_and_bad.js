// What is wrong with the options is told before that no function is exported.
export const options = { vus: 'many' };
