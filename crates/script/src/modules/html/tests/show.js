import { parseHTML } from "k6/html";

const page = open("page.html");

const isElement = (value) => typeof value === "object" && typeof value.nodeName === "function";
const isSelection = (value) => typeof value === "object" && typeof value.toArray === "function";

const shown = (value) => {
  if (value === undefined || value === null) return String(value);
  if (isElement(value)) {
    const id = value.id && value.id() ? `#${value.id()}` : "";
    return `El<${value.nodeName()}${id}>${value.textContent().trim().slice(0, 20).replace(/\s+/g, " ")}`;
  }
  if (isSelection(value)) return `Sel(${value.size()})[${value.toArray().map((one) => shown(one.get(0))).join(", ")}]`;
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (typeof value === "object") {
    return `obj ${Object.keys(value).map((key) => `${key}=${shown(value[key])}`).join(";")}`;
  }
  return `${typeof value} ${JSON.stringify(value)}`;
};

export default function () {
  const d = parseHTML(page);
  for (const expression of EXPRESSIONS) {
    let said;
    try {
      said = shown(new Function("d", "parseHTML", "show", "T", `return ${expression}`)(d, parseHTML, shown, []));
    } catch (error) {
      said = `THROW ${error}`;
    }
    console.log(said);
  }
}
