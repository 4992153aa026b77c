import { parseHTML } from "k6/html";

const namesOf = (element) => {
  const names = new Set();
  for (let kind = element; kind && kind !== Object.prototype; kind = Object.getPrototypeOf(kind)) {
    Object.getOwnPropertyNames(kind).forEach((name) => names.add(name));
  }
  return [...names].filter((name) => !["constructor", "toString"].includes(name) && !/element/.test(name));
};

const COMMON = namesOf(parseHTML("<div>x</div>").find("div").get(0));

const made = (tag, attributes) => {
  let page = `<${tag} ${attributes}></${tag}>`;
  if (/^(td|th)$/.test(tag)) page = `<table><tr>${page}</tr></table>`;
  if (/^(tr|tbody|thead|tfoot)$/.test(tag)) page = `<table>${page}</table>`;
  if (tag === "col") page = `<table><colgroup>${page}</colgroup></table>`;
  return parseHTML(page).find(tag).get(0);
};

const shown = (value) => {
  if (value === undefined) return "U";
  if (Array.isArray(value)) return `[${value.map(shown)}]`;
  return typeof value === "object" ? "object" : JSON.stringify(value);
};

// What each member gives without attributes, and with all of them at some text.
const members = (tag) => {
  const names = namesOf(made(tag, "")).filter((name) => !COMMON.includes(name)).sort();
  const attributes = [...names.map((name) => name.toLowerCase()), "for", "http-equiv", "accept-charset"];
  const all = (value) => made(tag, attributes.map((name) => `${name}="${value}"`).join(" "));
  const elements = [made(tag, ""), all("zz"), all("7"), all("-7"), all("")];
  for (const name of names) {
    console.log(`${tag} ${name}: ${elements.map((element) => shown(element[name]())).join(" | ")}`);
  }
};

const CHOICES = {
  "input type": "text TEXT password checkbox hidden date zz",
  "input formMethod": "POST post get dialog",
  "input formEnctype": "multipart/form-data text/plain zz",
  "input autocomplete": "off on OFF name",
  "button type": "submit reset menu button RESET",
  "form method": "get post POST dialog",
  "form enctype": "multipart/form-data text/plain MULTIPART/form-data",
  "form autocomplete": "off OFF on",
  "a referrerPolicy": "no-referrer origin unsafe-url",
  "img crossOrigin": "anonymous use-credentials zz",
  "audio preload": "none metadata auto zz",
  "track kind": "subtitle subtitles captions descriptions chapters metadata",
  "keygen keytype": "RSA DSA EC dsa",
  "textarea wrap": "soft hard off",
  "textarea autocapitalize": "none off characters words sentences",
  "ol type": "1 a A i I z",
  "li type": "1 a disc",
  "th scope": "row col colgroup auto",
  "script crossOrigin": "anonymous zz",
  "select size": "0 3 x",
  "td colSpan": "0 3 x",
};

const LINKS = [
  "https://u:p@x.org/p/a%20th?q#f", "//h/p", "mailto:x@y", "", "https://x.org:443", "https://x.org:8443/a?b", "%zz", "ftp://f/x#",
];
const PARTS = "hash host hostname pathname port protocol search origin username password toString".split(" ");
const DATA = [
  "0", "007", "1e5", "-3", "12.5", "+4", "9007199254740993", "true", "TRUE", "false", "null", '{"a":1}', "{a:1}", "[1]", '"q"',
  " 5 ", "NaN", "-0", ".5", "0.50", "1.25", "", "Infinity",
];
const PAGES = [
  "<p>a<table>b<tr><td>c</table>", "<b><p>x</b>y</p>", "<a href=1>x<a z=1 a=2>y</a>", "<ul><li>1<li>2</ul>", "<body a=1><body b=2>",
  "<p>&notit; &amp &lt;&#x41;&#0;", "<title>a<b></title>", "<!-- x --><html><!-- y --><body></body></html><!-- z -->",
  '<input type="hidden"><br></br></p>', '<svg viewBox="0 0 1 1"><a xlink:href="x"></a></svg>', "<wbr><embed><param><link><meta>",
  "<template><p>x</p></template>", "<head><noscript><p>x</p></noscript></head>", "<pre>\n\nx</pre>", "<frameset><frame></frameset>",
  '<!DOCTYPE html PUBLIC "-//W3C//DTD" "http://x"><a onclick="a&b<c>">\u00a0</a><style>a>b</style><iframe>x<y</iframe>',
];

export default function () {
  "a area audio base button canvas col data datalist del embed fieldset form iframe img input ins keygen label legend li link map meta meter object ol optgroup option output param pre progress script select source style table tbody td textarea th thead time title tr track ul video".split(" ").forEach(members);
  for (const [what, values] of Object.entries(CHOICES)) {
    const [tag, name] = what.split(" ");
    const read = (value) => shown(made(tag, `${name}="${value}"`)[name]());
    console.log(`${what}: ${values.split(" ").map((value) => `${value} ${read(value)}`).join(" | ")}`);
  }
  for (const href of LINKS) {
    const link = made("a", `href="${href}"`);
    console.log(`${href}: ${PARTS.map((name) => link[name]()).join(" | ")}`);
  }
  for (const value of DATA) {
    const data = parseHTML(`<p data-x='${value}'></p>`).find("p").data("x");
    console.log(`${value}: ${typeof data} ${shown(data)}`);
  }
  for (const page of PAGES) console.log(parseHTML(page).html());
}
