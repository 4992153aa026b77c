// What is below a row of the table by name once it is chosen: the course of its requests, and why they failed.
// Must not know how rows are sorted. Invariants: what a row holds is text, never markup; a row that is open says so to
// those who do not see it.
"use strict";
const details = (() => {
  let number = 0;
  const made = (tag, fields, ...children) => {
    const element = Object.assign(document.createElement(tag), fields);
    element.append(...children);
    return element;
  };

  // A row's course in the columns of the charts' data; null: none is known.
  const courseOf = (row) => {
    if (row.dataset.course === undefined) return null;
    const { at, span } = row.closest("table").dataset;
    const [completed, failed, s50, s99] = JSON.parse(row.dataset.course);
    const times = (all) => all.map((ns, place) => (completed[place] > 0 ? ns : null));
    return {
      at: JSON.parse(at),
      span: JSON.parse(span),
      completed,
      failed: failed.length > 0 ? failed : completed.map(() => 0),
      s50: times(s50),
      s99: times(s99),
    };
  };

  const failures = (row) => {
    const why = JSON.parse(row.dataset.why || "[]");
    if (why.length === 0) return made("p", { textContent: "No request failed." });
    const list = why.map(([reason, count]) =>
      made("li", {}, made("code", { textContent: reason }), ` (${formats.count(count)}×)`));
    return made("div", {}, made("h3", { textContent: "Errors" }), made("ul", {}, ...list));
  };

  const open = (row) => {
    const course = courseOf(row);
    const body = made("div", {}, failures(row));
    if (course === null) {
      body.append(made("p", { className: "hint", textContent: "No charts for this row: only the first 500 names have them." }));
    } else {
      const plots = made("div", { className: "pair" });
      plots.append(charts.figure("name-rate", "Rate", "requests per second", course));
      plots.append(charts.figure("name-times", "Duration", "p50 and p99 of each point", course));
      body.prepend(plots);
    }
    const cell = made("td", { colSpan: row.cells.length }, body);
    row.detail = made("tr", { className: "detail", id: `detail-${(number += 1)}` }, cell);
    row.after(row.detail);
    row.querySelector("button").setAttribute("aria-controls", row.detail.id);
    charts.draw(row.detail.querySelectorAll("figure"));
  };

  const close = (row) => {
    row.detail.querySelectorAll("figure").forEach(charts.drop);
    row.detail.remove();
    row.detail = undefined;
    row.querySelector("button").removeAttribute("aria-controls");
  };

  // Makes a button of a row's name; a click anywhere in the row does the same.
  const prepare = (row) => {
    const name = row.cells[0];
    const button = made("button", { type: "button", className: "row" });
    button.setAttribute("aria-expanded", "false");
    button.append(...name.childNodes);
    name.append(button);
    row.addEventListener("click", () => {
      if (String(getSelection()) !== "") return;
      (row.detail ? close : open)(row);
      button.setAttribute("aria-expanded", String(row.detail !== undefined));
    });
  };

  return { prepare };
})();
