// Similarity against distance: the place under the cursor, all places, and what a visitor guesses.

import { dots, html, line, set, svg } from "../dom.js";
import { similarity } from "../similarity.js";
import { amount, decimal, place, whole } from "../words.js";
import { chart, legend } from "./chart.js";
import * as guess from "./guess.js";

const ROOM = 0.05; // above and below the curves, as a part of their height

export function create(figure, change) {
  const [axis, band] = [svg("path", { class: "axis" }), svg("path", { class: "band" })];
  const [mean, own] = [svg("path", { class: "mean" }), svg("path", { class: "curve" })];
  const [dot, guessed] = [svg("path", { class: "dot" }), svg("path", { class: "guessed" })];
  const handles = svg("path", { class: "handles" });
  const { drawing, label } = chart(figure, axis, band, mean, own, dot, guessed, handles);
  const hands = guess.create(change);
  const board = html("div", { class: "board" });
  drawing.replaceWith(board);
  board.append(drawing, hands.element);
  const names = legend({ curve: "this place", mean: "mean of all", spread: "lowest to highest" });
  figure.querySelector(".drawing").append(names, hands.button);

  return (scene) => {
    const { settings, rows } = scene;
    const found = similarity(scene);
    const frame = frameOf(found, rows, settings.guess !== "no");
    const hidden = settings.guess === "draw";
    const shown = hidden ? {} : paths(scene, found, frame);
    names.hidden = hidden;
    set(drawing, { viewBox: [frame.first, -frame.top, frame.width, frame.height].join(" ") });
    set(axis, { d: `M${frame.first} 0H${rows - 1}M0 ${-frame.top}v${frame.height}` });
    for (const [name, path] of Object.entries({ band, mean, own, dot })) {
      set(path, { d: shown[name] ?? "" });
    }
    const ahead = frame.first < 0 ? [`${whole(rows - 1)} ahead`] : [];
    label(frame.high, frame.low, [...ahead, "the same place", `${whole(rows - 1)} behind`]);
    const scale = { ...frame, rows, curve: found.curve };
    const points = hands.update(settings, scale).map(([gap, height]) => [gap, -height]);
    set(guessed, { d: line(points) });
    set(handles, { d: hidden ? dots(points) : "" });
    const words = [hidden ? "" : twin(scene, found), hands.twin()];
    figure.querySelector("figcaption").textContent = words.filter(Boolean).join(" ");
  };
}

/** What is in sight: distances from `first` on, heights from `top` down; a guess has one side. */
function frameOf({ lowest, highest }, rows, oneSided) {
  const first = oneSided ? 0 : 1 - rows;
  const [low, high] = [Math.min(lowest, 0), Math.max(highest, 0)];
  const span = high - low || 1;
  const tall = { top: high + ROOM * span, height: (1 + 2 * ROOM) * span };
  return { first, width: Math.max(rows - 1 - first, 1), low, high, ...tall };
}

function paths({ row, settings }, { values, rows, curve }, { first }) {
  const inSight = ([gap, y]) => gap >= first && Number.isFinite(y);
  const at = (key) => [row - key, -values[row * rows + key]];
  const keys = Array.from({ length: rows }, (_, step) => rows - 1 - step);
  const places = curve.filter(({ gap }) => gap >= first);
  return {
    band: area(places),
    mean: line(places.map(({ gap, mean }) => [gap, -mean])),
    own: line(keys.map(at).filter(inSight)),
    dot: dots([at(otherOf(settings, rows))].filter(inSight)),
  };
}

function otherOf({ column }, rows) {
  return Math.min(column, rows - 1);
}

function area(curve) {
  const up = curve.map(({ gap, high }) => [gap, -high]);
  const down = curve.toReversed().map(({ gap, low }) => [gap, -low]);
  return curve.length ? `${line([...up, ...down])}z` : "";
}

function twin({ axes, span, row, recipe, settings }, { values, rows, curve }) {
  const other = otherOf(settings, rows);
  const where = `${place(axes.row, span.start + row)} with ${whole(other)}`;
  const value = decimal(values[row * rows + other]);
  const here = `Under the cursor, ${where}, ${whole(Math.abs(row - other))} apart: ${value}.`;
  const all = curve.find(({ gap }) => gap === row - other);
  if (!all) return `${here} No two places that far apart see each other.`;
  const [mean, low, high] = [all.mean, all.low, all.high].map(decimal);
  const order = recipe.places.length ? " Places are counted in reading order." : "";
  return (
    `${here} Over all places that far apart the mean is ${mean}, from ${low} to ${high}. ` +
    `${falls(curve)}${order}`
  );
}

/** Whether the mean only falls with distance, and how often it rises. */
function falls(curve) {
  const behind = curve.filter(({ gap }) => gap >= 0);
  const rises = behind.filter(({ mean }, at) => at && mean > behind[at - 1].mean).length;
  const steps = `${amount(Math.max(behind.length - 1, 0))} steps away`;
  return rises
    ? `Farther is not always less alike: of ${steps} the mean rises in ${amount(rises)}.`
    : `With each of ${steps} the mean falls or stays.`;
}
