// The last of two functions with one name holds, in the whole module.
console.log(twice());
function twice() { return 'first'; }
function twice() { return 'second'; }
export function shown() { return 'first'; }
function shown() { return 'second'; }
export default function () { console.log(twice(), shown()); undefined.x(); }
