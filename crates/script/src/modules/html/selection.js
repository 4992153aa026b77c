const { parse, query, filter, text, inner, attribute, attributes, nodeName, axis, nearest, contains, elements, refuse } = import.meta.native;

// Elements are a module of their own, run when the first of them is asked for: most scripts never do.
let kit;

const elementOf = (tree, id) => {
  if (kit === undefined) {
    kit = elements();
    kit.equip((page, node) => new Selection(page, [node], undefined, ""));
  }
  return kit.elementOf(tree, id);
};
const isElement = (value) => kit !== undefined && kit.isElement(value);

// What Go calls the type of a value that is no selector.
const typeName = (value) => {
  if (value === undefined || value === null) return "<nil>";
  if (isElement(value)) return `html.${kit.goTypeOf(value)}`;
  switch (typeof value) {
    case "number":
      return Number.isInteger(value) ? "int64" : "float64";
    case "boolean":
      return "bool";
    case "function":
      return "func(sobek.FunctionCall) sobek.Value";
    default:
      return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
  }
};

const refuseSelector = (value) => refuse(`invalid argument, cannot use a '${typeName(value)}' as a selector`);

const unique = (nodes) => [...new Set(nodes)];

// A value of an attribute `data-*`: what reads the same as a number, true, false and JSON are taken for it.
const dataValue = (written) => {
  if (written === "" || written === "null") return undefined;
  if (written === "true") return true;
  if (written === "false") return false;
  if (written[0] === "{" || written[0] === "[") {
    try {
      return JSON.parse(written);
    } catch {
      return written;
    }
  }
  const number = Number(written);
  const isNumber = (String(number) === written && Math.abs(number) !== Infinity) || written === "-0";
  return isNumber ? number : written;
};

// Words that Go writes in capitals.
const INITIALISMS = new Set(
  "acl api ascii cpu css dns eof guid html http https id ip json lhs qps ram rhs rpc sla smtp sql ssh tcp tls ttl udp ui uid uuid uri url utf8 vm xml xmpp xsrf xss".split(
    " ",
  ),
);

// `user-id` as a name of Go: `userID`.
const camelCase = (name) => {
  const word = (text) => (INITIALISMS.has(text) ? text.toUpperCase() : text.slice(0, 1).toUpperCase() + text.slice(1));
  const [first, ...others] = name.split("-");
  return first + others.map(word).join("");
};

// Capitals in a row as words: `IDB` is `id` and `b`.
const wordsOf = (capitals) => {
  const words = [];
  for (let at = 0; at < capitals.length; at += words.at(-1).length) {
    const lengths = [5, 4, 3, 2].filter((length) => INITIALISMS.has(capitals.slice(at, at + length).toLowerCase()));
    words.push(capitals.slice(at, at + (lengths[0] ?? 1)).toLowerCase());
  }
  return words;
};

// And back: `userID` is `user-id`, and so is `UserId`.
const dashed = (name) =>
  name.replace(/[A-Z]+/g, (capitals, at) => `${at === 0 ? "" : "-"}${wordsOf(capitals).join("-")}`);

// The value of a node, or what stands in it.
const valueOrHTML = (tree, id) => attribute(tree, id, "value") ?? inner(tree, id);

const queryEscape = (value) =>
  encodeURIComponent(String(value).toWellFormed())
    .replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");

const isSuccessful = (tree, id) => {
  const of = (name) => attribute(tree, id, name) ?? "";
  const type = of("type");
  if (of("name") === "" || of("disabled") === "disabled") return false;
  if (["submit", "button", "reset", "image", "file"].includes(type)) return false;
  return of("checked") === "checked" || (type !== "checkbox" && type !== "radio");
};

let isSelection;

class Selection {
  #tree;
  #nodes;
  #before;

  constructor(tree, nodes, before, url) {
    this.#tree = tree;
    this.#nodes = nodes;
    this.#before = before;
    this.url = url;
  }

  static {
    isSelection = (value) => typeof value === "object" && value !== null && #nodes in value;
  }

  #of(nodes) {
    return new Selection(this.#tree, nodes, this, this.url);
  }

  #filtered(nodes, selector) {
    return this.#of(selector === undefined ? nodes : filter(this.#tree, nodes, String(selector)));
  }

  #along(way, selector) {
    return this.#filtered(axis(this.#tree, this.#nodes, way), selector);
  }

  #until(way, until, selector) {
    const isEnd = this.#membership(until);
    const nodes = this.#nodes.flatMap((id) => {
      const passed = axis(this.#tree, [id], way);
      const end = passed.findIndex(isEnd);
      return end < 0 ? passed : passed.slice(0, end);
    });
    return this.#filtered(unique(nodes), selector);
  }

  // Whether a node is among what a selector or a selection says; nothing is where there is none.
  #membership(selector) {
    if (selector === undefined || selector === null) return () => false;
    if (typeof selector === "string") return (id) => filter(this.#tree, [id], selector).length > 0;
    if (!isSelection(selector)) refuseSelector(selector);
    const nodes = new Set(selector.#nodes);
    return (id) => nodes.has(id);
  }

  // The nodes that a selector, a selection or a function picks.
  #picked(by) {
    if (typeof by === "function") return this.#nodes.filter((id, index) => by(index, this.#of([id])));
    if (typeof by === "string") return filter(this.#tree, this.#nodes, by);
    const nodes = new Set(this.#given(by));
    return this.#nodes.filter((id) => nodes.has(id));
  }

  // The nodes of a selection or an element.
  #given(other) {
    if (isSelection(other)) return other.#nodes;
    return isElement(other) ? [kit.idOf(other)] : refuseSelector(other);
  }

  add(other) {
    const more = typeof other === "string" ? query(this.#tree, [0], other) : this.#given(other);
    return this.#of(unique([...this.#nodes, ...more]));
  }

  attr(name, otherwise) {
    if (this.#nodes.length === 0) return otherwise;
    return attribute(this.#tree, this.#nodes[0], String(name)) ?? otherwise;
  }

  children(selector) {
    return this.#along("children", selector);
  }

  closest(selector) {
    if (typeof selector !== "string" && !isSelection(selector)) refuseSelector(selector);
    const isIt = this.#membership(selector);
    const found = this.#nodes.map((id) => [id, ...axis(this.#tree, [id], "parents")].find(isIt));
    return this.#of(unique(found.filter((id) => id !== undefined)));
  }

  contents() {
    return this.#along("contents");
  }

  data(name) {
    if (this.#nodes.length === 0) return undefined;
    if (name !== undefined) {
      return dataValue(attribute(this.#tree, this.#nodes[0], `data-${dashed(String(name))}`) ?? "");
    }
    const own = attributes(this.#tree, this.#nodes[0]);
    if (own.length === 0) return undefined;
    const all = own.filter(([key]) => key.startsWith("data-") && key.length > 5);
    return Object.fromEntries(all.map(([key, value]) => [camelCase(key.slice(5)), dataValue(value)]));
  }

  each(visit) {
    if (typeof visit !== "function") refuse("the argument to each() must be a function");
    this.#nodes.forEach((id, index) => {
      try {
        visit(index, elementOf(this.#tree, id));
      } catch (error) {
        refuse(`the function passed to each() failed: ${error}`);
      }
    });
    return this;
  }

  end() {
    return this.#before ?? new Selection(this.#tree, [], undefined, this.url);
  }

  eq(index) {
    const node = this.#nodes.at(Math.trunc(index) || 0);
    return this.#of(node === undefined ? [] : [node]);
  }

  filter(by) {
    if (typeof by !== "function" && typeof by !== "string" && !isSelection(by)) {
      refuse("the argument to filter() must be a function, a selector or a selection");
    }
    return this.#of(this.#picked(by));
  }

  find(selector) {
    if (typeof selector === "string") return this.#of(query(this.#tree, this.#nodes, selector));
    const nodes = this.#given(selector);
    return this.#of(nodes.filter((id) => this.#nodes.some((outer) => contains(this.#tree, outer, id))));
  }

  first() {
    return this.#of(this.#nodes.slice(0, 1));
  }

  get(index) {
    if (index === undefined) return this.#nodes.map((id) => elementOf(this.#tree, id));
    const node = this.#nodes.at(Math.trunc(index) || 0);
    return node === undefined ? undefined : elementOf(this.#tree, node);
  }

  has(selector) {
    const inside = typeof selector === "string" ? query(this.#tree, [0], selector) : this.#given(selector);
    const around = new Set(axis(this.#tree, inside, "ancestors"));
    return this.#of(this.#nodes.filter((id) => around.has(id)));
  }

  html() {
    return this.#nodes.length === 0 ? "" : inner(this.#tree, this.#nodes[0]);
  }

  index(other) {
    if (this.#nodes.length === 0) return -1;
    if (other === undefined) return axis(this.#tree, [this.#nodes[0]], "prev").length;
    if (typeof other === "string") return query(this.#tree, [0], other).indexOf(this.#nodes[0]);
    return isSelection(other) && other.#nodes.length > 0 ? this.#nodes.indexOf(other.#nodes[0]) : -1;
  }

  is(by) {
    if (typeof by !== "function" && typeof by !== "string" && !isSelection(by)) {
      refuse("the argument to is() must be a function, a selector or a selection");
    }
    return this.#picked(by).length > 0;
  }

  last() {
    return this.#of(this.#nodes.slice(-1));
  }

  // Nodes for which the function throws are left out.
  map(make) {
    if (typeof make !== "function") refuse("the argument to map() must be a function");
    return this.#nodes.flatMap((id, index) => {
      try {
        return [make(index, this.#of([id]))];
      } catch {
        return [];
      }
    });
  }

  next(selector) {
    return this.#filtered(nearest(this.#tree, this.#nodes, "next"), selector);
  }

  nextAll(selector) {
    return this.#along("next", selector);
  }

  nextUntil(until, selector) {
    return this.#until("next", until, selector);
  }

  not(by) {
    const picked = new Set(this.#picked(by));
    return this.#of(this.#nodes.filter((id) => !picked.has(id)));
  }

  parent(selector) {
    return this.#filtered(nearest(this.#tree, this.#nodes, "parents"), selector);
  }

  parents(selector) {
    return this.#along("parents", selector);
  }

  parentsUntil(until, selector) {
    return this.#until("parents", until, selector);
  }

  prev(selector) {
    return this.#filtered(nearest(this.#tree, this.#nodes, "prev"), selector);
  }

  prevAll(selector) {
    return this.#along("prev", selector);
  }

  prevUntil(until, selector) {
    return this.#until("prev", until, selector);
  }

  serialize() {
    const fields = this.serializeObject();
    return Object.keys(fields)
      .sort()
      .flatMap((name) => [fields[name]].flat().map((value) => `${queryEscape(name)}=${queryEscape(value)}`))
      .join("&");
  }

  serializeArray() {
    const fields = "input,select,textarea,keygen";
    const all = this.is("form") ? query(this.#tree, this.#nodes, fields) : filter(this.#tree, this.#nodes, fields);
    return all
      .filter((id) => isSuccessful(this.#tree, id))
      .map((id) => ({ name: attribute(this.#tree, id, "name"), value: this.#of([id]).val() }))
      .filter(({ value }) => value !== undefined);
  }

  serializeObject() {
    return Object.fromEntries(this.serializeArray().map(({ name, value }) => [name, value]));
  }

  siblings(selector) {
    return this.#along("siblings", selector);
  }

  single(selector) {
    return this.#of(query(this.#tree, this.#nodes, selector === undefined ? "" : String(selector)).slice(0, 1));
  }

  size() {
    return this.#nodes.length;
  }

  slice(start, end) {
    return this.#of(this.#nodes.slice(start, end));
  }

  text() {
    return text(this.#tree, this.#nodes);
  }

  toArray() {
    return this.#nodes.map((id) => this.#of([id]));
  }

  val() {
    if (this.#nodes.length === 0) return undefined;
    const [tree, id] = [this.#tree, this.#nodes[0]];
    switch (nodeName(tree, id)) {
      case "input": {
        const isTicked = ["radio", "checkbox"].includes(attribute(tree, id, "type"));
        return attribute(tree, id, "value") ?? (isTicked ? "on" : "");
      }
      case "button":
        return attribute(tree, id, "value") ?? "";
      case "textarea":
        return inner(tree, id);
      case "option":
        return valueOrHTML(tree, id);
      case "select": {
        const selected = query(tree, [id], "option[selected]").map((option) => valueOrHTML(tree, option));
        return attribute(tree, id, "multiple") === undefined ? (selected[0] ?? "") : selected;
      }
      default:
        return undefined;
    }
  }
}

export function parseHTML(source, url = "") {
  const written = source === undefined || source === null ? "" : String(source);
  const page = parse(written, String(url));
  if (typeof page === "string") refuse(page);
  return new Selection(page, [0], undefined, url);
}

export default { parseHTML };
