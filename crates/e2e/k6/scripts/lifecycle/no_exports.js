// Nothing to run.
const nothing = 1;
