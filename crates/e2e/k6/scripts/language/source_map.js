module.exports.default = function () { try { null.x } catch (e) { console.log(e.stack.replace(/file:[^ ]*\//, "").replace(/(:\d+):\d+.*/, "$1")); } throw new Error("mapped"); }
//# sourceMappingURL=lib/source_map.js.map
