// What scripts see of Go's errors. GoError is a function, as Error is: it may be called without `new`.
const hidden = (value) => ({ value, writable: true, configurable: true });

export function GoError(message) {
  const error = message === undefined ? new Error() : new Error(message);
  return Object.setPrototypeOf(error, GoError.prototype);
}

Object.setPrototypeOf(GoError, Error);
GoError.prototype = Object.create(Error.prototype, {
  message: hidden(""),
  name: hidden("GoError"),
  constructor: hidden(GoError),
});

// Of the values of Go's errors: they are told by what `error()` says.
export const told = Object.create(Object.prototype, {
  toString: hidden(function toString() {
    return this.error();
  }),
});
