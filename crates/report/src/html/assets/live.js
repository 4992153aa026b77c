// The page of a run that goes on: it listens to the server's events, shows what they tell, and sends
// orders. Must not know how anything is drawn. Invariant: a page that lost its server says so, and
// what it showed last stays.
"use strict";
(() => {
  const query = location.search;
  const status = document.getElementById("status");
  const soFar = document.getElementById("so-far");
  const buttons = [...document.querySelectorAll("button[data-order]")];
  const shown = new Map();
  let events = null;

  const say = (text) => {
    status.textContent = text;
  };
  const allow = (can) => {
    for (const button of buttons) button.disabled = !can;
  };

  // Parts are markup that the server made and escaped.
  const show = (parts) => {
    for (const [id, html] of Object.entries(parts)) {
      if (shown.get(id) === html) continue;
      shown.set(id, html);
      const place = document.getElementById(id);
      const isOpen = place.querySelector("details[open]") !== null;
      const focused = id === "names" ? names.focused() : -1;
      place.innerHTML = html;
      if (place.tagName === "SECTION") place.hidden = html === "";
      if (id === "names") {
        names.prepare();
        names.focus(focused);
      }
      if (isOpen) place.querySelector("details").open = true;
    }
  };

  const take = (event) => {
    const told = JSON.parse(event.data);
    show(told.parts);
    if (told.charts) charts.replace(told.charts);
    if (told.row) charts.append(told.row);
    say(told.status);
    document.documentElement.dataset.phase = told.phase;
    allow(told.phase === "running" || told.phase === "waiting");
    soFar.hidden = told.phase !== "running";
    const name = document.querySelector("#title h1")?.textContent;
    const state = told.phase === "ended" ? told.status : "live";
    document.title = [name, state, "loadline"].filter(Boolean).join(" - ");
    if (told.phase === "ended") {
      // The verdict leads now, as in a report.
      document.getElementById("figures").before(document.getElementById("verdict"));
      events.close();
    }
  };

  const listen = () => {
    events = new EventSource(`events${query}`);
    events.addEventListener("whole", take);
    events.addEventListener("second", take);
    events.onerror = () => {
      allow(false);
      say(events.readyState === EventSource.CLOSED ? "the run no longer answers" : "connection lost, trying again");
    };
  };

  const order = async (name) => {
    try {
      const answer = await fetch(`command/${name}${query}`, { method: "POST" });
      say(answer.ok ? `${name}: sent` : `${name}: ${await answer.text()}`);
    } catch {
      say(`${name}: the run does not answer`);
    }
  };

  for (const button of buttons) {
    button.addEventListener("click", () => order(button.dataset.order));
  }
  soFar.href = `report.html${query}`;
  allow(false);
  listen();
})();
