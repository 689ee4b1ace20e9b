// One row of the table as bars, up for positive numbers and down for negative ones.

import { html, plot, set, svg } from "../dom.js";
import { softmax } from "../kernel.js";
import { cell, decimal, place, tick, whole } from "../words.js";

export function create(figure, change) {
  const plus = svg("path", { class: "plus" });
  const minus = svg("path", { class: "minus" });
  const cursor = svg("rect", { class: "band" });
  const axis = svg("path", { class: "axis" });
  const drawing = plot([0, 0, 1, 1], cursor, axis, plus, minus);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  figure.querySelector(".drawing").append(drawing, scale);

  drawing.onpointerdown = (event) => drawing.setPointerCapture(event.pointerId);
  drawing.onpointermove = ({ buttons, offsetX }) => {
    if (buttons) pick(offsetX, false);
  };
  drawing.onpointerup = ({ offsetX }) => pick(offsetX, true);
  let shown = null;
  function pick(x, done) {
    const column = Math.floor((x / drawing.clientWidth) * shown.columns);
    const inside = Math.min(Math.max(column, 0), shown.columns - 1);
    change({ column: inside }, { done });
  }

  return (scene) => {
    shown = scene;
    const { values, row, column, columns } = scene;
    // The scale is the same for every row, so that rows can be compared.
    const vector = values.subarray(row * columns, (row + 1) * columns);
    const low = Math.min(scene.lowest, 0);
    const high = Math.max(scene.highest, low < 0 ? 0 : 1);
    const height = high - low;
    set(drawing, { viewBox: `0 ${-high - 0.04 * height} ${columns} ${1.08 * height}` });
    set(axis, { d: `M0 0H${columns}` });
    set(cursor, { x: column, y: -high - height, width: 1, height: 3 * height });
    set(plus, { d: bars(vector, (value) => value > 0) });
    set(minus, { d: bars(vector, (value) => value < 0 && value > -Infinity) });
    scale.replaceChildren(...[high, low].map((end) => html("span", {}, tick(end))));
    figure.querySelector("figcaption").textContent = twin(scene, vector);
  };
}

function bars(vector, chosen) {
  const gap = vector.length > 256 ? 0 : 0.12;
  let path = "";
  vector.forEach((value, column) => {
    if (chosen(value)) path += `M${column + gap} 0v${-value}h${1 - 2 * gap}v${value}z`;
  });
  return path;
}

function twin(scene, vector) {
  const where = place(scene.axes.row, scene.span.start + scene.row);
  if (["bias", "term"].includes(scene.recipe.family)) return shares(where, vector);
  const plus = vector.filter((value) => value > 0).length;
  const minus = vector.filter((value) => value < 0).length;
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return (
    `The ${whole(vector.length)} numbers of ${where}: ${plus} above zero, ${minus} below; as an ` +
    `arrow it is ${decimal(length)} long. Under the cursor: ${cell(scene)}.`
  );
}

/** What the bias alone would do to attention. */
function shares(where, vector) {
  const weights = softmax([...vector]).sort((one, other) => other - one);
  let [count, share] = [0, 0];
  while (count < weights.length && share < 0.9) share += weights[count++];
  const open = vector.filter((value) => value > -Infinity);
  return (
    `For ${where}, ${whole(open.length)} of ${whole(vector.length)} keys are open, the least ` +
    `favoured with ${decimal(Math.min(...open))}. Were all contents alike, ${whole(count)} of ` +
    `them would take 90% of the attention.`
  );
}
