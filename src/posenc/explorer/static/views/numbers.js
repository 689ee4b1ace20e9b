// The cells around the cursor as a table of numbers, for eyes and ears that a picture fails.

import { html } from "../dom.js";
import { content, decimal, whole } from "../words.js";

const AROUND = 4; // cells on each side of the cursor
const TITLE = "Numbers around the cursor";

export function create() {
  const box = html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": TITLE });
  const element = html("details", {}, html("summary", {}, TITLE), box);
  let shown = null;
  element.ontoggle = update;

  function update() {
    if (element.open && shown) box.replaceChildren(table(shown));
  }

  return {
    element,
    show(scene) {
      shown = scene;
      update();
    },
  };
}

function table({ recipe, values, rows, columns, row, column, span, axes }) {
  const across = near(column, columns);
  const names = across.map((c) =>
    html("th", { scope: "col", title: content(recipe, c) }, String(c)),
  );
  const lines = near(row, rows).map((r) => {
    const cells = across.map((c) => {
      const here = r === row && c === column ? { class: "here" } : {};
      return html("td", here, decimal(values[r * columns + c]));
    });
    return html("tr", {}, html("th", { scope: "row" }, whole(span.start + r)), ...cells);
  });
  const corner = html("td", {}, `${axes.row.name} \\ ${axes.column.name}`);
  const head = html("thead", {}, html("tr", {}, corner, ...names));
  return html("table", { class: "numbers" }, head, html("tbody", {}, ...lines));
}

/** Places around one place, as many as there are. */
function near(at, count) {
  const from = Math.max(Math.min(at - AROUND, count - 2 * AROUND - 1), 0);
  return Array.from({ length: Math.min(2 * AROUND + 1, count) }, (_, step) => from + step);
}
