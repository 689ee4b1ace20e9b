// The column under the cursor, from row to row.

import { dots, html, line, plot, set, svg } from "../dom.js";
import { decimal, place, tick, whole } from "../words.js";

export function create(figure) {
  const axis = svg("path", { class: "axis" });
  const curve = svg("path", { class: "curve" });
  const cursor = svg("path", { class: "cursor" });
  const dot = svg("path", { class: "dot" });
  const drawing = plot([0, 0, 1, 1], axis, cursor, curve, dot);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  figure.querySelector(".drawing").append(drawing, scale);

  return (scene) => {
    const { values, rows, columns, row, column } = scene;
    const numbers = Array.from({ length: rows }, (_, at) => values[at * columns + column]);
    const [low, high] = [Math.min(scene.lowest, 0), Math.max(scene.highest, 0)];
    const height = high - low || 1;
    set(drawing, { viewBox: `-0.5 ${-high - 0.06 * height} ${rows} ${1.12 * height}` });
    set(axis, { d: `M-0.5 0H${rows - 0.5}` });
    set(cursor, { d: `M${row} ${-high - height}V${-low + height}` });
    set(curve, { d: pieces(numbers) });
    set(dot, { d: Number.isFinite(numbers[row]) ? dots([[row, -numbers[row]]]) : "" });
    scale.replaceChildren(...[high, low].map((end) => html("span", {}, tick(end))));
    figure.querySelector("figcaption").textContent = twin(scene, numbers);
  };
}

/** A line for every stretch of rows that is not masked. */
function pieces(numbers) {
  const runs = [[]];
  numbers.forEach((number, at) => {
    if (Number.isFinite(number)) runs.at(-1).push([at, -number]);
    else if (runs.at(-1).length) runs.push([]);
  });
  return runs.map(line).join("");
}

function twin({ axes, span, row, column }, numbers) {
  const open = numbers.filter(Number.isFinite);
  const where = `${place(axes.column, column)}`;
  if (!open.length) return `Every row of ${where} is masked; it has ${whole(numbers.length)}.`;
  const extreme = (best) => {
    const value = best(...open);
    return `${decimal(value)} at ${place(axes.row, span.start + numbers.indexOf(value))}`;
  };
  const here = `${decimal(numbers[row])} at ${place(axes.row, span.start + row)}`;
  return `Down ${where}: ${here}; lowest ${extreme(Math.min)}, highest ${extreme(Math.max)}.`;
}
