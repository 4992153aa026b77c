export const read = (path) => open(path);
