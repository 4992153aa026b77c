//@ args: --features freeze-env --env P=p
//@ log: sorted
// Variables are frozen by the feature, from the first reading on; the property that holds them is not.
export const options = { scenarios: { a: { executor: 'shared-iterations', env: { S: 'own', P: 'over' } } } };

function tried(what, act) {
  try {
    act();
    console.log(what, 'done');
  } catch (error) {
    console.log(what, error.toString());
  }
}

tried('add', () => { __ENV.A = 5; });
tried('replace', () => { __ENV = {}; });

export default function () {
  console.log(__ENV.S, __ENV.P, __ENV.A, Object.isFrozen(__ENV));
  tried('set', () => { __ENV.S = 'x'; });
  tried('delete', () => { delete __ENV.P; });
}
