// The bias of every head against the distance from query to key.

import { html, line, plot, set, svg } from "../dom.js";
import { bias } from "../kernel.js";
import { decimal, tick, whole } from "../words.js";

export function create(figure) {
  const all = svg("path", { class: "faint" });
  const current = svg("path", { class: "curve" });
  const cursor = svg("path", { class: "cursor" });
  const drawing = plot([0, 0, 1, 1], cursor, all, current);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  figure.querySelector(".drawing").append(drawing, scale, ends);

  return ({ recipe, settings, rows, row: query, column: key, lowest }) => {
    const head = Math.min(settings.head, recipe.slopes.length - 1);
    const side = recipe.ahead === null ? 0 : 1 - rows;
    const span = Array.from({ length: rows - side }, (_, step) => side + step);
    const curve = (h) => line(span.map((gap) => [gap, -bias(recipe, h, gap, 0)]));
    const floor = -lowest || 1;
    set(drawing, { viewBox: `${side - 0.5} ${-0.05 * floor} ${rows - side} ${1.1 * floor}` });
    set(all, { d: recipe.slopes.map((_, h) => curve(h)).join("") });
    set(current, { d: curve(head) });
    set(cursor, { d: `M${query - key} ${-floor}V${2 * floor}` });
    scale.replaceChildren(...[0, -floor].map((end) => html("span", {}, tick(end))));
    ends.replaceChildren(
      html("span", {}, side ? `key ${whole(-side)} ahead` : "same position"),
      html("span", {}, `key ${whole(rows - 1)} behind`),
    );
    const apart = `${whole(Math.abs(query - key))} apart${key > query ? ", the key ahead" : ""}`;
    figure.querySelector("figcaption").textContent =
      `Query ${query} and key ${key} stand ${apart}: head ${head} gives ` +
      `${decimal(bias(recipe, head, query, key))}.`;
  };
}
