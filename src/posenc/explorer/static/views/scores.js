// The scores of one query: before, what is added, after, and attention, a bar for each key.

import { html, plot, set, svg } from "../dom.js";
import { scoring } from "../scoring.js";
import { decimal, place, tick, whole } from "../words.js";

const ROWS = {
  before: "Score before",
  added: "What is added",
  after: "Score after",
  weights: "Attention",
};

export function create(figure, change) {
  const strips = Object.fromEntries(Object.keys(ROWS).map((name) => [name, strip(ROWS[name])]));
  const list = html("div", { class: "strips" }, ...Object.values(strips).map(({ element }) => element));
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  const names = html("p", { class: "names", "aria-hidden": "true" });
  names.append(html("span", { class: "outlined" }, "attention without what is added"));
  figure.querySelector(".drawing").append(list, ends, names);

  let shown = null;
  const pick = ({ clientX }, done) => {
    const box = list.querySelector("svg").getBoundingClientRect();
    const column = Math.floor(((clientX - box.left) / box.width) * shown.columns);
    change({ column: Math.min(Math.max(column, 0), shown.columns - 1) }, { done });
  };
  list.onpointerdown = (event) => list.setPointerCapture(event.pointerId);
  list.onpointermove = (event) => event.buttons && pick(event, false);
  list.onpointerup = (event) => pick(event, true);

  return (scene) => {
    shown = scene;
    const { columns, column, axes } = scene;
    const found = scoring(scene);
    for (const name of Object.keys(ROWS)) strips[name].update(found, name, column);
    ends.replaceChildren(...[0, columns - 1].map((at) => html("span", {}, place(axes.column, at))));
    figure.querySelector("figcaption").textContent = twin(scene, found);
  };
}

function strip(words) {
  const [plus, minus] = [svg("path", { class: "plus" }), svg("path", { class: "minus" })];
  const [axis, outline] = [svg("path", { class: "axis" }), svg("path", { class: "outline" })];
  const shade = svg("path", { class: "closed" });
  const cursor = svg("rect", { class: "band", width: 1 });
  const drawing = plot([0, 0, 1, 1], shade, cursor, axis, plus, minus, outline);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  const value = html("span", { class: "detail" });
  const head = html("p", { "aria-hidden": "true" }, html("span", { class: "name" }, words), value);
  return {
    element: html("div", { class: "row" }, head, drawing, scale),
    update(found, name, column) {
      const numbers = found[name];
      const others = name === "weights" ? found.plain : [];
      const seen = numbers.filter((each, key) => !found.hidden[key] && Number.isFinite(each));
      const [low, high] = [Math.min(0, ...seen), Math.max(0, ...seen, ...others)];
      const height = high - low || 1;
      const spots = (chosen) => bars(numbers, (each, key) => !found.hidden[key] && chosen(each));
      set(drawing, { viewBox: `0 ${-high - 0.04 * height} ${numbers.length} ${1.08 * height}` });
      set(axis, { d: `M0 0H${numbers.length}` });
      set(cursor, { x: column, y: -high - height, height: 3 * height });
      set(plus, { d: spots((each) => each > 0) });
      set(minus, { d: spots((each) => each < 0 && each > -Infinity) });
      set(outline, { d: others.map((each, key) => (found.hidden[key] ? "" : `M${key} ${-each}h1`)).join("") });
      set(shade, { d: closed(found.hidden, high + height, 3 * height) });
      const ends = [high, low].filter((end, at) => end || !at);
      scale.replaceChildren(...ends.map((end) => html("span", {}, tick(end))));
      value.textContent = found.hidden[column] ? "masked" : decimal(numbers[column]);
    },
  };
}

function bars(numbers, chosen) {
  const gap = numbers.length > 256 ? 0 : 0.12;
  return numbers.map((value, at) => (chosen(value, at) ? `M${at + gap} 0v${-value}h${1 - 2 * gap}v${value}z` : "")).join("");
}

function closed(hidden, top, height) {
  return hidden.map((it, at) => (it ? `M${at} ${-top}h1v${height}h-1z` : "")).join("");
}

function twin({ axes, span, row, column, settings }, { before, added, after, hidden, masked, plain, weights }) {
  const where = `Query ${whole(span.start + row)} and ${place(axes.column, column)}`;
  const closedKeys = hidden.filter(Boolean).length;
  const open = `${whole(hidden.length - closedKeys)} of ${whole(hidden.length)} keys are open.`;
  const ownMask = !masked && closedKeys ? " What is hidden, the encoding hides by itself." : "";
  const idle = settings.mask === "on" && !masked ? " Cells have no order, so the mask hides nothing here." : "";
  if (hidden[column]) return `${where}: masked, so no attention goes there. ${open}${ownMask}${idle}`;
  return (
    `${where}: score ${decimal(before[column])}, added ${decimal(added[column])}, together ` +
    `${decimal(after[column])}. Attention there is ${percent(weights[column])}, and would be ` +
    `${percent(plain[column])} with nothing added. ${open}${ownMask}${idle}`
  );
}

/** A share as people say it. */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "less than 0.1%";
  return `${Number((100 * share).toFixed(1))}%`;
}
