import { arrayOf } from "loadline:shared-array";
import { isInit, rest } from "loadline:files";

const { reader, rows, refuse, refuseAlone } = import.meta.native;

const refusing = (refuse, f) => {
  try {
    return f();
  } catch (error) {
    return refuse(error.message);
  }
};

const restOf = (file) => {
  const kind = typeof file;
  if (kind !== "object" && kind !== "function") refuse(`first argument expected to be a fs.File instance, got ${kind} instead`);
  return rest(file) ?? refuse("failed to create a new parser; reason: the reader cannot be nil");
};

const whole = (value) => Math.trunc(Number(value)) || 0;

const optionsOf = (given, failed) => {
  if (given === null || given === undefined) throw new TypeError("Cannot convert undefined or null to object");
  const from = Object(given);
  const delimiter = "delimiter" in from ? String(from.delimiter) : ",";
  if (delimiter.length !== 1 || delimiter > "\x7f") refuse(`${failed}; reason: delimiter must be a single character`);
  const options = {
    delimiter: delimiter.charCodeAt(0),
    skipFirstLine: Boolean(from.skipFirstLine),
    fromLine: "fromLine" in from ? whole(from.fromLine) : undefined,
    toLine: "toLine" in from ? whole(from.toLine) : undefined,
    asObjects: Boolean(from.asObjects),
  };
  if (options.fromLine >= options.toLine) refuse(`${failed}; reason: fromLine must be less than or equal to toLine`);
  return options;
};

export function parse(file, ...more) {
  const { path, contents, offset } = restOf(file);
  const options = optionsOf(more.length > 0 ? more[0] : {}, "failed to interpret the provided Parser options");
  // What cannot be read at all is said at once.
  refusing(refuse, () => reader(contents, offset, options));
  const key = `csv.parse.${JSON.stringify([path, options])}`;
  return (async () => arrayOf(refusing(refuse, () => rows(key, contents, offset, options))))();
}

// As in k6, `new` may be left out.
export function Parser(file, options = {}) {
  if (!isInit()) refuse("csv Parser constructor must be called in the init context");
  if (file === undefined || file === null) refuse("csv Parser constructor takes at least one non-nil source argument");
  const { contents, offset } = restOf(file);
  const wanted = optionsOf(options, "encountered an error while interpreting Parser options");
  const next = refusing(refuse, () => reader(contents, offset, wanted));
  return {
    async next() {
      const row = refusing(refuseAlone, next);
      return row === null || row === undefined ? { done: true, value: [] } : { done: false, value: row };
    },
  };
}

export default { Parser, parse };
