// A stage without a target.
export const options = { stages: [{ duration: '100ms' }] };
export default function () {}
