// A table of words: one row a question, one column for each of the things compared. On a narrow
// screen each cell says itself what it is about.

import { html } from "./dom.js";

/**
 * Fills an element with a table. `names` head the columns, number `here` is marked; each row has a
 * `head` and `cells`, lists of what stands in them.
 */
export function fill(frame, { names, here, rows }) {
  const mark = (at) => (at === here ? "here" : "");
  const heads = names.map((name, at) => html("th", { scope: "col", class: mark(at) }, name));
  const body = rows.map(({ head, cells }) => {
    const filled = cells.map((cell, at) => html("td", { "data-name": names[at], class: mark(at) }, ...cell));
    return html("tr", {}, html("th", { scope: "row" }, ...head), ...filled);
  });
  const top = html("thead", {}, html("tr", {}, html("td", {}), ...heads));
  frame.replaceChildren(html("table", { class: "ledger" }, top, html("tbody", {}, ...body)));
}
