//@ args: --secret-source mock=cool=s3cret
// As CommonJS has it.
const secrets = require('k6/secrets').default;
module.exports.default = async function () { console.log((await secrets.get('cool')).length, typeof secrets.source('mock').get); };
