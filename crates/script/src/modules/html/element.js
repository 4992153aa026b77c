const { query, filter, text, inner, attribute, attributes, nodeName, nodeType, nodeValue, namespace, axis, nearest, contains, address, resolved } =
  import.meta.native;

let selectionOf;

// Says how a selection of one node is made.
export const equip = (make) => {
  selectionOf = make;
};

export let isElement;
export let idOf;
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
    return axis(this.#tree, [this.#id], way);
  }

  #nearest(way) {
    return this.#first(nearest(this.#tree, [this.#id], way));
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
    return this.#nearest("contents");
  }

  firstElementChild() {
    return this.#nearest("children");
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
    return attribute(this.#tree, this.#id, "id") ?? "";
  }

  innerHTML() {
    return inner(this.#tree, this.#id);
  }

  isDefaultNamespace() {
    return this.namespaceURI() === "http://www.w3.org/1999/xhtml";
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
    return this.#nearest("next");
  }

  nextSibling() {
    return this.#nearest("after");
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
    return this.#nearest("parents");
  }

  parentNode() {
    return this.#nearest("ancestors");
  }

  previousElementSibling() {
    return this.#nearest("prev");
  }

  previousSibling() {
    return this.#nearest("before");
  }

  querySelector(selector) {
    return this.#first(this.#find(selector));
  }

  querySelectorAll(selector) {
    return this.#all(this.#find(selector));
  }

  selection() {
    return selectionOf(this.#tree, this.#id);
  }

  textContent() {
    return text(this.#tree, [this.#id]);
  }

  toString() {
    return `[object ${this.nodeType() === 1 ? "html.Node" : this.nodeName()}]`;
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

const valueOrHTML = (tree, id) => attribute(tree, id, "value") ?? inner(tree, id);

const written = (element, name) => attribute(originOf(element), idOf(element), name) ?? "";
const has = (element, name) => attribute(originOf(element), idOf(element), name) !== undefined;
const found = (element, selector) =>
  query(originOf(element), [idOf(element)], selector).map((id) => elementOf(originOf(element), id));
const inDocument = (element, selector) =>
  query(originOf(element), [0], selector).map((id) => elementOf(originOf(element), id));
const byId = (element, id) => (id === "" ? undefined : inDocument(element, `[id=${JSON.stringify(id)}]`)[0]);
const closest = (element, selector) => {
  const ids = [idOf(element), ...axis(originOf(element), [idOf(element)], "parents")];
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
// A reference as an address, if the page was answered from one; undefined if it cannot be read.
const located = (element, reference) =>
  address(originOf(element)) === "" ? reference : resolved(originOf(element), reference);
const parts = (element) => {
  const href = has(element, "href") ? resolved(originOf(element), written(element, "href")) : undefined;
  const none = { scheme: "", user: "", password: "", host: "", name: "", port: "", path: "", search: "", hash: "" };
  if (href === undefined) return none;
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

const formActionOf = (element) => {
  const owner = has(element, "formaction") ? undefined : form(element);
  const reference = owner === undefined ? written(element, "formaction") : written(owner, "action");
  return located(element, reference) ?? reference;
};

const formEnctypeOf = (element) => {
  const owner = form(element);
  const inherited = owner === undefined ? ENCODINGS[0] : owner.enctype();
  return has(element, "formenctype") ? oneOf(written(element, "formenctype"), ENCODINGS, ENCODINGS[0]) : inherited;
};

const formMethodOf = (element) => {
  const owner = form(element);
  const method = has(element, "formmethod") ? written(element, "formmethod") : owner === undefined ? "" : written(owner, "method");
  return method.toLowerCase() === "post" ? "post" : "get";
};

const hostOf = (element) => {
  const { scheme, host, name, port } = parts(element);
  return port === USUAL_PORTS[scheme] ? name : host;
};

// What is more than an attribute read: members of one kind, then those that are alike in all. One
// function, since each of its own would take memory in every virtual user. tidy: table
const made = (element, tag, name) => {
  switch (`${tag}.${name}`) {
    case "base.href":
      return located(element, written(element, "href")) ?? address(originOf(element));
    case "button.value":
      return valueOrHTML(originOf(element), idOf(element));
    case "col.span":
      return Math.max(whole(element, "span", 1), 1);
    case "datalist.options":
      return found(element, "option");
    case "form.length":
      return element.elements().length;
    case "legend.form":
      return closest(element, "form");
    case "object.form":
      return closest(element, "form");
    case "option.form":
      return closest(element, "form");
    case "option.index":
      return place(element, closest(element, "select,datalist")?.options() ?? []);
    case "option.label":
      return has(element, "label") ? written(element, "label") : element.textContent();
    case "option.value":
      return valueOrHTML(originOf(element), idOf(element));
    case "output.defaultValue":
      return element.textContent();
    case "output.value":
      return element.textContent();
    case "progress.max":
      return decimal(element, "max") > 0 ? decimal(element, "max") : 1;
    case "progress.position":
      return ratio(element) ?? -1;
    case "progress.value":
      return ratio(element) ?? 0;
    case "select.length":
      return element.options().length;
    case "select.options":
      return found(element, "option");
    case "select.selectedIndex":
      return element.options().findIndex((option) => option.selected());
    case "select.size":
      return element.multiple() ? 4 : 1;
    case "select.type":
      return element.multiple() ? "select-multiple" : "select";
    case "select.value":
      return element.selectedOptions()[0]?.value() ?? "";
    case "style.type":
      return written(element, "type") || "text/css";
    case "textarea.length":
      return written(element, "value").length;
  }
  switch (name) {
    case "areas":
      return found(element, "area");
    case "caption":
      return found(element, "caption")[0];
    case "cellIndex":
      return axis(originOf(element), [idOf(element)], "prev").length;
    case "cells":
      return found(element, "td,th");
    case "control":
      return byId(element, written(element, "for"));
    case "crossOrigin":
      return oneOf(written(element, "crossorigin"), ["anonymous", "use-credentials"], undefined);
    case "defaultValue":
      return written(element, "value");
    case "elements":
      return found(element, FIELDS);
    case "form":
      return form(element);
    case "formAction":
      return formActionOf(element);
    case "formEnctype":
      return formEnctypeOf(element);
    case "formMethod":
      return formMethodOf(element);
    case "formNoValidate":
      return has(element, "formnovalidate") || (form(element)?.noValidate() ?? false);
    case "formTarget":
      return has(element, "formtarget") ? written(element, "formtarget") : (form(element)?.target() ?? "");
    case "hash":
      return parts(element).hash === "#" ? "" : parts(element).hash;
    case "host":
      return hostOf(element);
    case "hostname":
      return parts(element).name;
    case "images":
      return inDocument(element, `img[usemap=${JSON.stringify(`#${written(element, "name")}`)}]`);
    case "labels":
      return labels(element);
    case "list":
      return byId(element, written(element, "list"));
    case "origin":
      return parts(element).scheme === "" ? "" : `${parts(element).scheme}://${parts(element).host}`;
    case "password":
      return parts(element).password;
    case "pathname":
      return parts(element).path;
    case "port":
      return parts(element).port;
    case "protocol":
      return parts(element).scheme || ":";
    case "relList":
      return written(element, "rel").split(/\s+/).filter(Boolean);
    case "rowIndex":
      return place(element, closest(element, "table")?.rows() ?? []);
    case "rows":
      return found(element, "tr");
    case "search":
      return parts(element).search;
    case "sectionRowIndex":
      return place(element, closest(element, "thead,tbody,tfoot")?.rows() ?? []);
    case "selectedOptions":
      return found(element, "option[selected]");
    case "tBodies":
      return found(element, "tbody");
    case "tFoot":
      return found(element, "tfoot")[0];
    case "tHead":
      return found(element, "thead")[0];
    case "text":
      return element.textContent();
    case "textTracks":
      return found(element, "track");
    case "toString":
      return element.href();
    case "type":
      return element.nodeName();
    case "username":
      return parts(element).user;
    case "validity":
      return undefined;
  }
};

const POLICY =
  "referrerPolicy~|no-referrer|no-referrer-when-downgrade|origin|origin-when-cross-origin|same-origin|strict-origin|strict-origin-when-cross-origin|unsafe-url";
const LINK = `accessKey download hash! host! hostname! href/ hrefLang origin! password! pathname! port! protocol! ${POLICY} rel relList! search! target text! toString! type username!`;
const MEDIA =
  "autoplay? controls? crossOrigin! currentSrc@src defaultMuted@muted? loop? mediaGroup muted? preload~auto|none|metadata src/ textTracks!";
const FIELD =
  "accessKey autofocus? disabled? form! formAction! formEnctype! formMethod! formNoValidate! formTarget! labels! name tabIndex#0 ";
const CELL = "cellIndex! colSpan#1 headers rowSpan#1";
const CHANGE = "cite datetime";

// Go's name of each kind of element, and its members: `?` whether an attribute is there, `#` a whole number or what
// follows, `~` one of a list whose first is the default, `!` made by a function, `/` an address,
// `@` the attribute's name where it is another, nothing for an attribute's text.
const KINDS = {
  a: `AnchorElement ${LINK}`,
  area: `AreaElement ${LINK}`,
  audio: `AudioElement ${MEDIA}`,
  base: "BaseElement href! target",
  button: `ButtonElement ${FIELD}type~submit|button|menu|reset value!`,
  canvas: "CanvasElement height#150 width#150",
  col: "TableColElement span!",
  data: "DataElement value",
  datalist: "DataListElement options!",
  del: `DelElement ${CHANGE}`,
  embed: "EmbedElement height src type width",
  fieldset: "FieldSetElement disabled? elements! form! name type! validity!",
  form: `FormElement acceptCharset@accept-charset action/ autocomplete~on|off elements! encoding@enctype~${ENCODINGS.join("|")} enctype~${ENCODINGS.join("|")} length! method~get|post name noValidate? target`,
  iframe: `IFrameElement allowfullscreen? height name ${POLICY} src/ width`,
  img: `ImageElement alt crossOrigin! currentSrc@src/ height#0 isMap? name ${POLICY} sizes src/ srcset useMap width#0`,
  input: `InputElement ${FIELD}accept alt autocomplete~on|off checked? defaultChecked@checked? defaultValue! dirName height list! max maxLength#-1 min multiple? pattern placeholder readonly? required? size#0 src/ step type~text|button|checkbox|color|date|datetime-local|email|file|hidden|image|month|number|password|radio|range|reset|search|submit|tel|time|url|week value width`,
  ins: `InsElement ${CHANGE}`,
  keygen: "KeygenElement autofocus? challenge disabled? form! keytype~RSA|DSA|EC labels! name type!",
  label: "LabelElement control! form! htmlFor@for",
  legend: "LegendElement accessKey form!",
  li: "LiElement type~|1|a|A|i|I|disc|square|circle value#0",
  link: `LinkElement crossOrigin! href/ hreflang media ${POLICY} rel relList! target type`,
  map: "MapElement areas! images! name",
  meta: "MetaElement content httpEquiv@http-equiv~content-type|default-style|refresh name",
  meter: "MeterElement high#0 labels! low#0 max#0 min#0 optimum#0",
  object: "ObjectElement data/ form! height name tabIndex#0 type typeMustMatch? useMap width",
  ol: "OListElement reversed? start#0 type~1|a|A|i|I",
  optgroup: "OptGroupElement disabled? label",
  option: "OptionElement defaultSelected@selected? disabled? form! index! label! selected? text! value!",
  output: "OutputElement defaultValue! form! htmlFor@for labels! name type! value!",
  param: "ParamElement name value",
  pre: "PreElement name value",
  progress: "ProgressElement labels! max! position! value!",
  script: "ScriptElement async? charset crossOrigin defer? noModule? src/ text! type",
  select: "SelectElement autofocus? disabled? form! labels! length! multiple? name options! required? selectedIndex! selectedOptions! size! tabIndex#0 type! value!",
  source: "SourceElement keySystem media sizes src/ srcset type",
  style: "StyleElement media type!",
  table: "TableElement caption! rows! sortable? tBodies! tFoot! tHead!",
  tbody: "TableBodyElement rows!",
  td: `TableDataCellElement ${CELL}`,
  textarea: "TextAreaElement accessKey autocapitalize~sentences|none|off|characters|words autocomplete~on|off cols#0 defaultValue! form! labels! length! maxLength#0 placeholder readOnly? required? rows#0 tabIndex#0 type! value wrap~soft|hard|off",
  tfoot: "TableFootElement rows!",
  th: `TableHeaderCellElement ${CELL} abbr scope~|row|col|colgroup|rowgroup sorted?`,
  thead: "TableHeadElement rows!",
  time: "TimeElement datetime",
  title: "TitleElement text!",
  tr: "TableRowElement cells! rowIndex! sectionRowIndex!",
  track: "TrackElement default? kind~subtitle|captions|descriptions|chapters|metadata label src/ srclang",
  ul: "UListElement type",
  video: `VideoElement ${MEDIA}`,
};

const member = (tag, spelled) => {
  const [, name, other, kind, rest] = /^(\w+)(?:@([a-z-]+))?([?#~!/]?)(.*)$/.exec(spelled);
  const from = other ?? name.toLowerCase();
  switch (kind) {
    case "!":
      return [name, (e) => made(e, tag, name)];
    case "?":
      return [name, (e) => has(e, from)];
    case "#":
      return [name, (e) => whole(e, from, Number(rest))];
    case "/":
      return [name, (e) => (has(e, from) ? (located(e, written(e, from)) ?? "") : "")];
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
  const known = classes.get(tag);
  if (known !== undefined) return known;
  const kind = class extends Element {};
  for (const spelled of KINDS[tag].split(" ").slice(1)) {
    const [name, read] = member(tag, spelled);
    const value = function () {
      return read(this);
    };
    Object.defineProperty(kind.prototype, name, { value, configurable: true, writable: true });
  }
  classes.set(tag, kind);
  return kind;
};

export const goTypeOf = (element) => KINDS[element.nodeName()]?.split(" ", 1)[0] ?? "Element";

export const elementOf = (tree, id) => {
  const kind = nodeType(tree, id) === 1 ? classOf(nodeName(tree, id)) : Element;
  return new kind(tree, id);
};
