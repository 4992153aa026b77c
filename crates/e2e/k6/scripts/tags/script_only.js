// Tags of the run from the script.
export const options = { tags: { region: 'eu', n: '5' } };
export default function () {}
