export const data = 'http://127.0.0.1/';
