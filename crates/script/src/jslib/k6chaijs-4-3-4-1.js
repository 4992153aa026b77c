
// What 4.3.4.1 does otherwise.
Object.assign(dialect, { plain: true });
