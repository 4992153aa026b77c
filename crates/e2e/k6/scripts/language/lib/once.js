console.log('module runs');
export const token = {};
