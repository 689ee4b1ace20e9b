// The table less another one that was pinned: where two settings give the same numbers, and where not.

import { html } from "../dom.js";
import { difference } from "../kernel.js";
import { decimal, place, whole } from "../words.js";
import * as matrix from "./matrix.js";

export function create(figure, change) {
  const pin = html("button", { type: "button" }, "Pin these settings");
  const drop = html("button", { type: "button" }, "Remove the pin");
  figure.querySelector("header").after(html("p", { class: "buttons" }, pin, drop));
  const draw = matrix.create(figure, change);
  const drawing = figure.querySelector(".drawing");
  let shown = null;
  pin.onclick = () => {
    const { mistake } = shown.settings;
    change({ pin: JSON.stringify({ ...shown.recipe.spec, ...(mistake && { mistake }) }) }, { done: true });
  };
  drop.onclick = () => change({ pin: "" }, { done: true });

  return (scene) => {
    shown = scene;
    const { pinned } = scene.got;
    const fits = pinned && pinned.rows === scene.rows && pinned.columns === scene.columns;
    drop.disabled = !pinned;
    drawing.hidden = !fits;
    if (fits) draw(less(scene, pinned));
    figure.querySelector("figcaption").textContent = twin(scene, pinned, fits);
  };
}

let last = null; // one difference at a time, as the tables are large

function less(scene, pinned) {
  if (last?.values !== scene.values || last.other !== pinned.values) {
    const values = difference(scene.values, pinned.values);
    const finite = values.map((value) => (Number.isFinite(value) ? value : 0));
    const bounds = finite.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [0, 0]);
    last = { values: scene.values, other: pinned.values, found: { values, lowest: bounds[0], highest: bounds[1] } };
  }
  return { ...scene, ...last.found };
}

function twin(scene, pinned, fits) {
  if (!pinned) return "Nothing is pinned: 0 tables to compare with.";
  const named = `Pinned is ${pinned.recipe.text}.`;
  const size = ({ rows, columns }) => `${whole(rows)} by ${whole(columns)}`;
  if (!fits) return `${named} Its table is ${size(pinned)}, this one ${size(scene)}: they cannot be compared.`;
  const { values, lowest, highest } = less(scene, pinned);
  const differ = values.filter((value) => value !== 0).length;
  if (!differ) return `${named} All ${whole(values.length)} cells are equal.`;
  const largest = -lowest > highest ? lowest : highest;
  const at = values.indexOf(largest);
  const cell = `${place(scene.axes.row, scene.span.start + Math.floor(at / scene.columns))}, ${place(scene.axes.column, at % scene.columns)}`;
  return `${named} ${whole(differ)} of ${whole(values.length)} cells differ, by most at ${cell}: ${decimal(largest)}.`;
}
