
// What versions before 4.3.4.1 do otherwise.
Object.assign(dialect, { whole: true, plain: true });
