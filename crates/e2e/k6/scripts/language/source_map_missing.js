export default function () { throw new Error("not mapped"); }
//# sourceMappingURL=lib/there_is_none.js.map
