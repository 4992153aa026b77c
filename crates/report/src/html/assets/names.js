// The table by name: searched and sorted with keys or a mouse. Must not know what its columns mean.
// Invariants: a row that is not shown is hidden by the search alone; sorting keeps all rows, each with what is open below it.
"use strict";
const names = (() => {
  const SIZES = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, K: 1e3, M: 1e6 };
  const state = { column: null, isDown: false, search: "" };

  // A cell's number: times in seconds, whatever their unit; no number: null.
  const numberOf = (text) => {
    const parts = [...text.replaceAll(",", "").split("(")[0].matchAll(/(-?[\d.]+)\s*(ns|µs|ms|[smhKM])?/g)];
    if (parts.length === 0) return null;
    return parts.reduce((sum, [, digits, unit]) => sum + Number(digits) * (SIZES[unit] || 1), 0);
  };

  const compare = (column) => (a, b) => {
    const [left, right] = [a, b].map((row) => row.cells[column].textContent);
    if (column === 0) return left.localeCompare(right, "en", { numeric: true });
    return (numberOf(left) ?? -Infinity) - (numberOf(right) ?? -Infinity);
  };

  const arrange = (section) => {
    const body = section.querySelector("tbody");
    const rows = [...body.rows].filter((row) => row.className !== "detail");
    if (state.column !== null) {
      rows.sort(compare(state.column));
      if (state.isDown) rows.reverse();
      body.append(...rows.flatMap((row) => (row.detail ? [row, row.detail] : [row])));
    }
    const wanted = state.search.trim().toLowerCase();
    for (const row of rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
      if (row.detail) row.detail.hidden = row.hidden;
    }
    const shown = rows.filter((row) => !row.hidden).length;
    section.querySelector(".found").textContent = wanted === "" ? "" : `${shown} of ${rows.length} rows`;
    [...section.querySelectorAll("thead th")].forEach((head, column) => {
      const isSorted = column === state.column;
      head.setAttribute("aria-sort", isSorted ? (state.isDown ? "descending" : "ascending") : "none");
    });
  };

  const sortBy = (section, column) => {
    state.isDown = state.column === column ? !state.isDown : column > 0;
    state.column = column;
    arrange(section);
  };

  // Makes buttons of the heads, and a field to search in; what was asked for before stays.
  const prepare = () => {
    const section = document.getElementById("names");
    const table = section.querySelector("table");
    if (table === null || section.querySelector("input") !== null) return;
    const label = Object.assign(document.createElement("label"), { className: "search", textContent: "Search " });
    const field = Object.assign(document.createElement("input"), { type: "search", value: state.search });
    field.addEventListener("input", () => {
      state.search = field.value;
      arrange(section);
    });
    label.append(field, Object.assign(document.createElement("span"), { className: "found", role: "status" }));
    table.parentElement.before(label);
    [...table.querySelectorAll("thead th")].forEach((head, column) => {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      button.textContent = head.textContent || "name";
      button.addEventListener("click", () => sortBy(section, column));
      head.replaceChildren(button);
    });
    [...table.tBodies[0].rows].forEach(details.prepare);
    arrange(section);
  };

  // Where the focus is in the table, and back to the same place in a new one.
  const focusable = () => [...document.querySelectorAll("#names input, #names button")];
  const focused = () => focusable().indexOf(document.activeElement);
  const focus = (place) => focusable()[place]?.focus();

  prepare();
  return { prepare, focused, focus };
})();
