let isElement;
let idOf;
let originOf;

class Element {
  #tree;
  #id;

  constructor(tree, id) {
    this.#tree = tree;
    this.#id = id;
  }

  static {
    isElement = (value) => typeof value === "object" && value !== null && #id in value;
    idOf = (element) => element.#id;
    originOf = (element) => element.#tree;
  }

  #first(ids) {
    return ids.length === 0 ? undefined : elementOf(this.#tree, ids[0]);
  }

  #all(ids) {
    return ids.map((id) => elementOf(this.#tree, id));
  }

  #along(way) {
    return axis(this.#tree, this.#id, way);
  }

  #find(selector) {
    return query(this.#tree, [this.#id], String(selector));
  }

  attributes() {
    const all = attributes(this.#tree, this.#id);
    return Object.fromEntries(all.map(([name, value]) => [name, new Attribute(this, name, value)]));
  }

  childElementCount() {
    return this.#along("children").length;
  }

  childNodes() {
    return this.#all(this.#along("contents"));
  }

  children() {
    return this.#all(this.#along("children"));
  }

  classList() {
    return (attribute(this.#tree, this.#id, "class") ?? "").split(/\s+/).filter(Boolean);
  }

  className() {
    return attribute(this.#tree, this.#id, "class");
  }

  contains(other) {
    return isElement(other) && contains(this.#tree, this.#id, other.#id);
  }

  firstChild() {
    return this.#first(this.#along("contents"));
  }

  firstElementChild() {
    return this.#first(this.#along("children"));
  }

  getAttribute(name) {
    return attribute(this.#tree, this.#id, String(name));
  }

  getAttributeNode(name) {
    const value = this.getAttribute(name);
    return value === undefined ? undefined : new Attribute(this, String(name), value);
  }

  getElementsByClassName(name) {
    return this.#all(this.#find(`.${name}`));
  }

  getElementsByTagName(name) {
    return this.#all(this.#find(name));
  }

  hasAttribute(name) {
    return this.getAttribute(name) !== undefined;
  }

  hasAttributes() {
    return attributes(this.#tree, this.#id).length > 0;
  }

  hasChildNodes() {
    return this.#along("contents").length > 0;
  }

  id() {
    return attribute(this.#tree, this.#id, "id");
  }

  innerHTML() {
    return inner(this.#tree, this.#id);
  }

  isDefaultNamespace() {
    return ["", "http://www.w3.org/1999/xhtml"].includes(this.namespaceURI());
  }

  isEqualNode(other) {
    if (!isElement(other) || this.nodeName() !== other.nodeName()) return false;
    const shown = (element) => JSON.stringify([attributes(element.#tree, element.#id).sort(), element.innerHTML()]);
    return this.nodeValue() === other.nodeValue() && shown(this) === shown(other);
  }

  isSameNode(other) {
    return isElement(other) && this.#tree === other.#tree && this.#id === other.#id;
  }

  lang() {
    return attribute(this.#tree, this.#id, "lang");
  }

  lastChild() {
    return this.#first(this.#along("contents").slice(-1));
  }

  lastElementChild() {
    return this.#first(this.#along("children").slice(-1));
  }

  matches(selector) {
    return filter(this.#tree, [this.#id], String(selector)).length > 0;
  }

  namespaceURI() {
    return namespace(this.#tree, this.#id);
  }

  nextElementSibling() {
    return this.#first(this.#along("next"));
  }

  nextSibling() {
    return this.#first(this.#along("after"));
  }

  nodeName() {
    return nodeName(this.#tree, this.#id);
  }

  nodeType() {
    return nodeType(this.#tree, this.#id);
  }

  nodeValue() {
    return this.nodeType() === 8 ? "" : nodeValue(this.#tree, this.#id);
  }

  ownerDocument() {
    return elementOf(this.#tree, 0);
  }

  parentElement() {
    return this.#first(this.#along("parents"));
  }

  parentNode() {
    return this.#first(this.#along("ancestors"));
  }

  previousElementSibling() {
    return this.#first(this.#along("prev"));
  }

  previousSibling() {
    return this.#first(this.#along("before"));
  }

  querySelector(selector) {
    return this.#first(this.#find(selector));
  }

  querySelectorAll(selector) {
    return this.#all(this.#find(selector));
  }

  selection() {
    return new Selection(this.#tree, [this.#id], undefined, "");
  }

  textContent() {
    return text(this.#tree, [this.#id]);
  }

  toString() {
    return "[object html.Node]";
  }
}

class Attribute {
  constructor(owner, name, value) {
    this.owner_element = owner;
    this.name = name;
    this.value = value;
  }

  localName() {
    return this.name.slice(this.name.indexOf(":") + 1);
  }

  namespaceURI() {
    return "";
  }

  prefix() {
    return this.name.includes(":") ? this.name.slice(0, this.name.indexOf(":")) : "";
  }
}

const written = (element, name) => attribute(originOf(element), idOf(element), name) ?? "";
const has = (element, name) => attribute(originOf(element), idOf(element), name) !== undefined;
const found = (element, selector) =>
  query(originOf(element), [idOf(element)], selector).map((id) => elementOf(originOf(element), id));
const inDocument = (element, selector) =>
  query(originOf(element), [0], selector).map((id) => elementOf(originOf(element), id));
const byId = (element, id) => (id === "" ? undefined : inDocument(element, `[id=${JSON.stringify(id)}]`)[0]);
const closest = (element, selector) => {
  const ids = [idOf(element), ...axis(originOf(element), idOf(element), "parents")];
  const id = filter(originOf(element), ids, selector)[0];
  return id === undefined ? undefined : elementOf(originOf(element), id);
};
const whole = (element, name, otherwise) => {
  const value = written(element, name);
  return /^[+-]?\d+$/.test(value) ? Number(value) : otherwise;
};
const decimal = (element, name) => {
  const value = written(element, name);
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : undefined;
};
const oneOf = (value, allowed, otherwise) => (allowed.includes(value) ? value : otherwise);
const place = (element, others) => Math.max(others.findIndex((other) => other.isSameNode(element)), 0);
const form = (element) => (has(element, "form") ? byId(element, written(element, "form")) : closest(element, "form"));
const labels = (element) => {
  const id = written(element, "id");
  const named = id === "" ? [] : inDocument(element, `label[for=${JSON.stringify(id)}]`);
  const around = closest(element, "label");
  return around === undefined || named.some((label) => label.isSameNode(around)) ? named : [...named, around];
};
const parts = (element) => {
  const href = written(element, "href");
  const none = { scheme: "", user: "", password: "", host: "", name: "", port: "", path: "", search: "", hash: "" };
  if (/%(?![0-9a-f]{2})/i.test(href)) return none;
  const [, scheme = "", authority = "", path = "", search = "", hash = ""] =
    /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(href) ?? [];
  const [, user = "", password = "", host = ""] = /^(?:([^:@]*)(?::([^@]*))?@)?(.*)$/s.exec(authority) ?? [];
  const [, name = "", port = ""] = /^(\[.*\]|[^:]*)(?::(\d*))?$/s.exec(host) ?? [];
  const isOpaque = scheme !== "" && authority === "" && path[0] !== "/";
  const decoded = isOpaque ? "" : decodeURIComponent(path);
  const rooted = decoded === "" || decoded[0] === "/" ? decoded : `/${decoded}`;
  return { scheme: scheme.toLowerCase(), user, password, host, name, port, path: rooted, search, hash };
};
const USUAL_PORTS = { http: "80", https: "443" };
const ENCODINGS = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];
const FIELDS = "input,select,button,textarea,fieldset";
const ratio = (element) => {
  const max = element.max();
  const value = decimal(element, "value");
  return value === undefined || value < 0 ? undefined : Math.min(value / max, 1);
};

// What is more than an attribute read: by name, or by tag and name where tags differ.
const MADE = {
  areas: (e) => found(e, "area"),
  caption: (e) => found(e, "caption")[0],
  cellIndex: (e) => axis(originOf(e), idOf(e), "prev").length,
  cells: (e) => found(e, "td,th"),
  control: (e) => byId(e, written(e, "for")),
  crossOrigin: (e) => oneOf(written(e, "crossorigin"), ["anonymous", "use-credentials"], undefined),
  defaultValue: (e) => written(e, "value"),
  elements: (e) => found(e, FIELDS),
  form,
  formAction: (e) => (has(e, "formaction") ? written(e, "formaction") : (form(e)?.action() ?? "")),
  formEnctype: (e) => {
    const owner = form(e);
    const inherited = owner === undefined ? ENCODINGS[0] : owner.enctype();
    return has(e, "formenctype") ? oneOf(written(e, "formenctype"), ENCODINGS, ENCODINGS[0]) : inherited;
  },
  formMethod: (e) => {
    const owner = form(e);
    const method = has(e, "formmethod") ? written(e, "formmethod") : owner === undefined ? "" : written(owner, "method");
    return method.toLowerCase() === "post" ? "post" : "get";
  },
  formNoValidate: (e) => has(e, "formnovalidate") || (form(e)?.noValidate() ?? false),
  formTarget: (e) => (has(e, "formtarget") ? written(e, "formtarget") : (form(e)?.target() ?? "")),
  hash: (e) => (parts(e).hash === "#" ? "" : parts(e).hash),
  host: (e) => {
    const { scheme, host, name, port } = parts(e);
    return port === USUAL_PORTS[scheme] ? name : host;
  },
  hostname: (e) => parts(e).name,
  images: (e) => inDocument(e, `img[usemap=${JSON.stringify(`#${written(e, "name")}`)}]`),
  labels,
  list: (e) => byId(e, written(e, "list")),
  origin: (e) => (parts(e).scheme === "" ? "" : `${parts(e).scheme}://${parts(e).host}`),
  password: (e) => parts(e).password,
  pathname: (e) => parts(e).path,
  port: (e) => parts(e).port,
  protocol: (e) => parts(e).scheme || ":",
  relList: (e) => written(e, "rel").split(/\s+/).filter(Boolean),
  rowIndex: (e) => place(e, closest(e, "table")?.rows() ?? []),
  rows: (e) => found(e, "tr"),
  search: (e) => parts(e).search,
  sectionRowIndex: (e) => place(e, closest(e, "thead,tbody,tfoot")?.rows() ?? []),
  selectedOptions: (e) => found(e, "option[selected]"),
  tBodies: (e) => found(e, "tbody"),
  tFoot: (e) => found(e, "tfoot")[0],
  tHead: (e) => found(e, "thead")[0],
  text: (e) => e.textContent(),
  textTracks: (e) => found(e, "track"),
  toString: (e) => written(e, "href"),
  type: (e) => e.nodeName(),
  username: (e) => parts(e).user,
  validity: () => undefined,
  "button.value": (e) => valueOrHTML(originOf(e), idOf(e)),
  "col.span": (e) => Math.max(whole(e, "span", 1), 1),
  "datalist.options": (e) => found(e, "option"),
  "form.length": (e) => e.elements().length,
  "legend.form": (e) => closest(e, "form"),
  "object.form": (e) => closest(e, "form"),
  "option.form": (e) => closest(e, "form"),
  "option.index": (e) => place(e, closest(e, "select,datalist")?.options() ?? []),
  "option.label": (e) => (has(e, "label") ? written(e, "label") : e.textContent()),
  "option.value": (e) => valueOrHTML(originOf(e), idOf(e)),
  "output.defaultValue": (e) => e.textContent(),
  "output.value": (e) => e.textContent(),
  "progress.max": (e) => (decimal(e, "max") > 0 ? decimal(e, "max") : 1),
  "progress.position": (e) => ratio(e) ?? -1,
  "progress.value": (e) => ratio(e) ?? 0,
  "select.length": (e) => e.options().length,
  "select.options": (e) => found(e, "option"),
  "select.selectedIndex": (e) => e.options().findIndex((option) => option.selected()),
  "select.size": (e) => (e.multiple() ? 4 : 1),
  "select.type": (e) => (e.multiple() ? "select-multiple" : "select"),
  "select.value": (e) => e.selectedOptions()[0]?.value() ?? "",
  "style.type": (e) => written(e, "type") || "text/css",
  "textarea.length": (e) => written(e, "value").length,
};

const POLICY =
  "referrerPolicy~|no-referrer|no-referrer-when-downgrade|origin|origin-when-cross-origin|same-origin|strict-origin|strict-origin-when-cross-origin|unsafe-url";
const LINK = `accessKey download hash! host! hostname! href hrefLang origin! password! pathname! port! protocol! ${POLICY} rel relList! search! target text! toString! type username!`;
const MEDIA =
  "autoplay? controls? crossOrigin! currentSrc@src defaultMuted@muted? loop? mediaGroup muted? preload~auto|none|metadata src textTracks!";
const FIELD =
  "accessKey autofocus? disabled? form! formAction! formEnctype! formMethod! formNoValidate! formTarget! labels! name tabIndex#0 ";
const CELL = "cellIndex! colSpan#1 headers rowSpan#1";
const CHANGE = "cite datetime";

// The members of each kind of element: `?` whether an attribute is there, `#` a whole number or what
// follows, `~` one of a list whose first is the default, `!` made by a function, `@` the attribute's
// name where it is another, nothing for an attribute's text.
const KINDS = {
  a: ["AnchorElement", LINK],
  area: ["AreaElement", LINK],
  audio: ["AudioElement", MEDIA],
  base: ["BaseElement", "href target"],
  button: ["ButtonElement", `${FIELD}type~submit|button|menu|reset value!`],
  canvas: ["CanvasElement", "height#150 width#150"],
  col: ["TableColElement", "span!"],
  data: ["DataElement", "value"],
  datalist: ["DataListElement", "options!"],
  del: ["DelElement", CHANGE],
  embed: ["EmbedElement", "height src type width"],
  fieldset: ["FieldSetElement", "disabled? elements! form! name type! validity!"],
  form: [
    "FormElement",
    `acceptCharset@accept-charset action autocomplete~on|off elements! encoding@enctype~${ENCODINGS.join("|")} enctype~${ENCODINGS.join("|")} length! method~get|post name noValidate? target`,
  ],
  iframe: ["IFrameElement", `allowfullscreen? height name ${POLICY} src width`],
  img: [
    "ImageElement",
    `alt crossOrigin! currentSrc@src height#0 isMap? name ${POLICY} sizes src srcset useMap width#0`,
  ],
  input: [
    "InputElement",
    `${FIELD}accept alt autocomplete~on|off checked? defaultChecked@checked? defaultValue! dirName height list! max maxLength#-1 min multiple? pattern placeholder readonly? required? size#0 src step type~text|button|checkbox|color|date|datetime-local|email|file|hidden|image|month|number|password|radio|range|reset|search|submit|tel|time|url|week value width`,
  ],
  ins: ["InsElement", CHANGE],
  keygen: ["KeygenElement", "autofocus? challenge disabled? form! keytype~RSA|DSA|EC labels! name type!"],
  label: ["LabelElement", "control! form! htmlFor@for"],
  legend: ["LegendElement", "accessKey form!"],
  li: ["LiElement", "type~|1|a|A|i|I|disc|square|circle value#0"],
  link: ["LinkElement", `crossOrigin! href hreflang media ${POLICY} rel relList! target type`],
  map: ["MapElement", "areas! images! name"],
  meta: ["MetaElement", "content httpEquiv@http-equiv~content-type|default-style|refresh name"],
  meter: ["MeterElement", "high#0 labels! low#0 max#0 min#0 optimum#0"],
  object: ["ObjectElement", "data form! height name tabIndex#0 type typeMustMatch? useMap width"],
  ol: ["OListElement", "reversed? start#0 type~1|a|A|i|I"],
  optgroup: ["OptGroupElement", "disabled? label"],
  option: [
    "OptionElement",
    "defaultSelected@selected? disabled? form! index! label! selected? text! value!",
  ],
  output: ["OutputElement", "defaultValue! form! htmlFor@for labels! name type! value!"],
  param: ["ParamElement", "name value"],
  pre: ["PreElement", "name value"],
  progress: ["ProgressElement", "labels! max! position! value!"],
  script: ["ScriptElement", "async? charset crossOrigin defer? noModule? src text! type"],
  select: [
    "SelectElement",
    "autofocus? disabled? form! labels! length! multiple? name options! required? selectedIndex! selectedOptions! size! tabIndex#0 type! value!",
  ],
  source: ["SourceElement", "keySystem media sizes src srcset type"],
  style: ["StyleElement", "media type!"],
  table: ["TableElement", "caption! rows! sortable? tBodies! tFoot! tHead!"],
  tbody: ["TableBodyElement", "rows!"],
  td: ["TableDataCellElement", CELL],
  textarea: [
    "TextAreaElement",
    "accessKey autocapitalize~sentences|none|off|characters|words autocomplete~on|off cols#0 defaultValue! form! labels! length! maxLength#0 placeholder readOnly? required? rows#0 tabIndex#0 type! value wrap~soft|hard|off",
  ],
  tfoot: ["TableFootElement", "rows!"],
  th: ["TableHeaderCellElement", `${CELL} abbr scope~|row|col|colgroup|rowgroup sorted?`],
  thead: ["TableHeadElement", "rows!"],
  time: ["TimeElement", "datetime"],
  title: ["TitleElement", "text!"],
  tr: ["TableRowElement", "cells! rowIndex! sectionRowIndex!"],
  track: ["TrackElement", "default? kind~subtitle|captions|descriptions|chapters|metadata label src srclang"],
  ul: ["UListElement", "type"],
  video: ["VideoElement", MEDIA],
};

const member = (tag, spelled) => {
  const [, name, other, kind, rest] = /^(\w+)(?:@([a-z-]+))?([?#~!]?)(.*)$/.exec(spelled);
  const from = other ?? name.toLowerCase();
  switch (kind) {
    case "!": {
      const make = MADE[`${tag}.${name}`] ?? MADE[name];
      return [name, (e) => make(e)];
    }
    case "?":
      return [name, (e) => has(e, from)];
    case "#":
      return [name, (e) => whole(e, from, Number(rest))];
    case "~": {
      const allowed = rest.split("|");
      return [name, (e) => oneOf(written(e, from), allowed, allowed[0])];
    }
    default:
      return [name, (e) => written(e, from)];
  }
};

// Classes of elements are made when the first of their kind is met.
const classes = new Map();

const classOf = (tag) => {
  if (!Object.hasOwn(KINDS, tag)) return Element;
  let made = classes.get(tag);
  if (made === undefined) {
    made = class extends Element {};
    for (const spelled of KINDS[tag][1].split(" ")) {
      const [name, read] = member(tag, spelled);
      const value = function () {
        return read(this);
      };
      Object.defineProperty(made.prototype, name, { value, configurable: true, writable: true });
    }
    classes.set(tag, made);
  }
  return made;
};

const goTypeOf = (element) => KINDS[element.nodeName()]?.[0] ?? "Element";

const elementOf = (tree, id) => {
  const kind = nodeType(tree, id) === 1 ? classOf(nodeName(tree, id)) : Element;
  return new kind(tree, id);
};
