// Unknown keys are told and ignored.
export const options = { vus: 1, unknownKey: true, anotherOne: 5 };
export default function () {}
