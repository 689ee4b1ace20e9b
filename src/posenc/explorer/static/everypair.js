// Every pair as a row of numbers, for eyes and ears that a picture fails.

import { html } from "./dom.js";
import { pairAt } from "./tokens.js";
import { amount } from "./words.js";

const TITLE = "Every pair in numbers";
const HEADS = ["pair", "a turn before", "a turn after", "times slower", "turns in training", "turns wanted"];

/** The table behind a summary: { element, show(scene) }. It is made only while it is open. */
export function create() {
  const box = html("div", { class: "scroll tall", role: "region", tabindex: "0", "aria-label": TITLE });
  const element = html("details", {}, html("summary", {}, TITLE), box);
  let shown = null;
  element.ontoggle = update;

  function update() {
    if (element.open) box.replaceChildren(table(shown));
  }

  return {
    element,
    show(scene) {
      shown = scene;
      update();
    },
  };
}

function table(scene) {
  const { plain, after, seen } = scene.answer;
  const current = pairAt(scene);
  const rows = seen.map((turns, pair) => {
    const columns = [plain.wavelengths, after.wavelengths, after.slower].map((each) => each[pair] ?? Infinity);
    const cells = [...columns.map(never), amount(turns), amount(after.turns[pair])];
    const here = pair === current ? { class: "here" } : {};
    return html("tr", here, html("th", { scope: "row" }, String(pair)), ...cells.map((cell) => html("td", {}, cell)));
  });
  const heads = HEADS.map((head) => html("th", { scope: "col" }, head));
  return html("table", { class: "numbers" }, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows));
}

function never(value) {
  return value === Infinity ? "never turns" : amount(value);
}
