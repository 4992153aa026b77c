exports.place = 'near';
