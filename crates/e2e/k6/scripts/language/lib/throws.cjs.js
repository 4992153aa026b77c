exports.half = 1;
console.log('run');
throw new Error('of the module');
