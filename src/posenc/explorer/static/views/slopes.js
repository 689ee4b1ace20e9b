// The slope of each head, on a scale of powers of two.

import { dots, html, plot, set, svg } from "../dom.js";
import { amount, decimal, whole } from "../words.js";

export function create(figure) {
  const stems = svg("path", { class: "stems" });
  const points = svg("path", { class: "points" });
  const current = svg("path", { class: "dot" });
  const grid = svg("path", { class: "axis" });
  const drawing = plot([0, 0, 1, 1], grid, stems, points, current);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  const heads = html("p", { class: "heads", "aria-hidden": "true" });
  figure.querySelector(".drawing").append(drawing, scale, heads);

  return ({ recipe, settings }) => {
    const { slopes } = recipe;
    const heights = slopes.map(Math.log2);
    const [low, high] = [Math.floor(Math.min(...heights)) - 1, Math.ceil(Math.max(...heights))];
    const head = Math.min(settings.head, slopes.length - 1);
    const spots = heights.map((height, at) => [at + 0.5, -height]);
    const levels = Array.from({ length: high - low + 1 }, (_, step) => low + step);
    set(drawing, { viewBox: `0 ${-high - 0.5} ${slopes.length} ${high - low + 0.5}` });
    set(grid, { d: levels.map((level) => `M0 ${-level}H${slopes.length}`).join("") });
    set(stems, { d: spots.map(([x, y]) => `M${x} ${-low}V${y}`).join("") });
    set(points, { d: dots(spots) });
    set(current, { d: dots([spots[head]]) });
    scale.replaceChildren(...[high, low].map((level) => html("span", {}, fraction(2 ** level))));
    heads.replaceChildren(...[0, slopes.length - 1].map((at) => html("span", {}, `head ${at}`)));
    figure.querySelector("figcaption").textContent = twin(slopes, head);
  };
}

function fraction(value) {
  return value < 1 ? `1/${whole(1 / value)}` : whole(value);
}

function twin(slopes, head) {
  const falling = slopes.every((slope, at) => at === 0 || slope < slopes[at - 1]);
  return (
    `${whole(slopes.length)} slopes from ${decimal(Math.max(...slopes))} to ` +
    `${decimal(Math.min(...slopes))}, ${falling ? "falling from head to head" : "not in order"}. ` +
    `Head ${head} takes ${decimal(slopes[head])} off a score for each position of distance: its ` +
    `attention halves every ${amount(Math.LN2 / slopes[head])} positions.`
  );
}
