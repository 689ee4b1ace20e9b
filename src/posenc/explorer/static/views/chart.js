// What curves and bars over places have in common: a scale on the right, words below, a legend.

import { dots, html, line, plot, set, svg } from "../dom.js";
import { tick } from "../words.js";

const ROOM = 0.06; // above and below the curves, as a part of their height

/** A chart of some parts: { drawing, label }. */
export function chart(figure, ...parts) {
  const drawing = plot([0, 0, 1, 1], ...parts);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  figure.querySelector(".drawing").append(drawing, scale, ends);
  return {
    drawing,
    /** The numbers at the top and the bottom, and words from the left to the right. */
    label(high, low, words) {
      scale.replaceChildren(...[high, low].map((end) => html("span", {}, tick(end))));
      ends.replaceChildren(...words.map((word) => html("span", {}, word)));
    },
  };
}

/** The names of the curves, by the class that shows how they are drawn. */
export function legend(names) {
  const items = Object.entries(names).map(([look, name]) => html("span", { class: look }, name));
  return html("p", { class: "legend-line", "aria-hidden": "true" }, ...items);
}

/** Two curves over places, one drawn and one dashed; gives the function that shows them. */
export function twoCurves(figure, names) {
  const [axis, cursor] = [svg("path", { class: "axis" }), svg("path", { class: "cursor" })];
  const [drawn, dashed] = [svg("path", { class: "curve" }), svg("path", { class: "dashed" })];
  const spot = svg("path", { class: "dot" });
  const { drawing, label } = chart(figure, axis, cursor, dashed, drawn, spot);
  figure.querySelector(".drawing").append(legend(names));

  return ({ curve, other, cursor: at, dot, words }) => {
    const all = [...curve, ...other, 0];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const height = high - low || 1;
    const last = Math.max(curve.length - 1, 1);
    const path = (values) => line(values.map((value, x) => [x, -value]));
    const box = [0, -high - ROOM * height, last, (1 + 2 * ROOM) * height];
    set(drawing, { viewBox: box.join(" ") });
    set(axis, { d: `M0 0H${last}` });
    set(cursor, { d: `M${at} ${-high - height}V${height - low}` });
    set(drawn, { d: path(curve) });
    set(dashed, { d: path(other) });
    set(spot, { d: dots([[dot, -curve[dot]]]) });
    label(high, low, words);
  };
}

/** A path of bars from zero, one for each value that is chosen. */
export function bars(values, chosen) {
  const gap = values.length > 256 ? 0 : 0.12;
  const bar = (value, at) => `M${at + gap} 0v${-value}h${1 - 2 * gap}v${value}z`;
  return Array.from(values, (value, at) => (chosen(value) ? bar(value, at) : "")).join("");
}
