module.exports = { name: 'deep ' + typeof module + ' ' + typeof exports };
