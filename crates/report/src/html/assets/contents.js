// The list of sections: open where there is room, folded on a telephone. Must not know sections.
// Invariant: without this script all links are there.
"use strict";
(() => {
  const list = document.querySelector("nav details");
  const isNarrow = matchMedia("(max-width: 40rem)");
  const fold = () => {
    list.open = !isNarrow.matches;
  };
  isNarrow.addEventListener("change", fold);
  fold();
})();
