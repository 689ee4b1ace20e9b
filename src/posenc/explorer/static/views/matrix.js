// The whole table on a canvas, one pixel a cell, enlarged by whole device pixels.

import { html } from "../dom.js";
import { wavelength } from "../kernel.js";
import { paint, pixel } from "../pixels.js";
import { amount, cell, place, tick, whole } from "../words.js";
import * as numbers from "./numbers.js";

const MASKED = 0; // a pixel that lets the hatching through
const [LOW, TALL] = [320, 640]; // CSS pixels; between them a table is about as tall as wide
const WIDE = 544; // CSS pixels that do not fit beside other pictures
const LARGE = 40; // the largest cell, in CSS pixels

export function create(figure, change) {
  const { view } = figure.dataset;
  const named = { "aria-labelledby": `${view}-title` };
  const canvas = html("canvas", { role: "img", "aria-describedby": `${view}-twin`, ...named });
  const [across, along] = [html("div", { class: "across" }), html("div", { class: "along" })];
  const sheet = html("div", { class: "sheet" }, canvas, across, along);
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  const frame = html("div", { class: "scroll", role: "region", ...named }, sheet, ends);
  const legend = html("div", { class: "legend", "aria-hidden": "true" });
  const details = numbers.create();
  figure.querySelector(".drawing").append(frame, legend, details.element);

  let shown = null;
  let seen = null; // the part of the table that is in sight
  let pressed = false; // the part in sight stays while the pointer is down
  let painted = [];
  const fit = () => seen && resize({ figure, frame, sheet, ends, legend }, seen);
  new ResizeObserver(fit).observe(figure);

  sheet.onpointerdown = (event) => {
    sheet.setPointerCapture(event.pointerId);
    pressed = true;
    pick(event);
  };
  sheet.onpointermove = (event) => event.buttons && pick(event);
  sheet.onlostpointercapture = () => {
    pressed = false;
    change({}, { done: true });
  };
  function pick({ clientX, clientY }) {
    const box = canvas.getBoundingClientRect();
    const row = seen.top + share((clientY - box.top) / box.height, seen.rows);
    const column = seen.left + share((clientX - box.left) / box.width, seen.columns);
    change({ position: shown.span.start + row, column }, { done: false });
  }

  return (scene) => {
    shown = scene;
    if (!pressed) seen = inSight(scene);
    const { top, left, rows, columns } = seen;
    const state = [scene.values, scene.colours, top, left, rows];
    if (state.some((part, at) => part !== painted[at])) {
      painted = state;
      const largest = Math.max(-scene.lowest, scene.highest) || 1;
      paintTable(canvas, scene, seen, largest);
      paintLegend(legend, scene, largest);
      const edges = [left, left + columns - 1];
      ends.replaceChildren(...edges.map((at) => html("span", {}, end(scene, at))));
      fit();
    }
    const [row, column] = [scene.row - top, scene.column - left];
    Object.assign(across.style, { height: `${100 / rows}%`, translate: `0 ${100 * row}%` });
    Object.assign(along.style, { width: `${100 / columns}%`, translate: `${100 * column}%` });
    figure.querySelector("figcaption").textContent = twin(scene);
    details.show(scene);
  };
}

/** All of the table, or as many cells around the cursor as the setting `zoom` says. */
function inSight({ rows, columns, row, column, settings }) {
  const most = Number(settings.zoom) || Infinity; // "all" is no number
  const from = (at, count) => Math.max(Math.min(at - Math.floor(most / 2), count - most), 0);
  const [top, left] = most === Infinity ? [0, 0] : [from(row, rows), from(column, columns)];
  return { top, left, rows: Math.min(rows, most), columns: Math.min(columns, most) };
}

/** A word under the first and the last column. */
function end({ recipe, axes }, column) {
  const name = place(axes.column, column);
  const turn = wavelength(recipe, column);
  return turn ? `${name}: a turn in ${amount(turn)}` : name;
}

function share(part, count) {
  return Math.min(Math.max(Math.floor(part * count), 0), count - 1);
}

/** Colours of the part in sight as one 32-bit number a cell. */
function paintTable(canvas, scene, { top, left, rows, columns }, largest) {
  const { values, colours } = scene;
  const lookup = Uint32Array.from(colours, pixel);
  const pixels = new Uint32Array(rows * columns);
  const zero = (colours.length - 1) / 2;
  const step = zero / largest;
  let at = 0;
  for (let row = top; row < top + rows; row += 1) {
    const start = row * scene.columns + left;
    for (let place = start; place < start + columns; place += 1) {
      const value = values[place];
      pixels[at] = value === -Infinity ? MASKED : lookup[Math.round(value * step) + zero];
      at += 1;
    }
  }
  paint(canvas, pixels, columns);
}

/** The colours in use: a table without a positive or a negative number needs half of them. */
function paintLegend(legend, { lowest, highest, colours }, largest) {
  const middle = (colours.length - 1) / 2;
  const [low, high] = [lowest < 0 ? -largest : 0, highest > 0 ? largest : 0];
  const span = [low < 0 ? 0 : middle, high > 0 ? colours.length : middle + 1];
  const shown = colours.slice(...span).toReversed();
  const bar = html("canvas");
  paint(bar, Uint32Array.from(shown, pixel), 1);
  const ends = [...new Set([high, 0, low])];
  const ticks = html("p", {}, ...ends.map((end) => html("span", {}, tick(end))));
  legend.replaceChildren(bar, ticks);
}

/** Cells are whole device pixels, so that no column is drawn wider than its neighbour. */
function resize({ figure, frame, sheet, ends, legend }, { rows, columns }) {
  const ratio = devicePixelRatio;
  const pictures = figure.parentElement;
  pictures.style.setProperty("--columns", `${columns / ratio}px`);
  pictures.classList.toggle("wide", columns / ratio > WIDE);
  const drawing = frame.parentElement;
  const { columnGap } = getComputedStyle(drawing);
  const room = drawing.clientWidth - legend.offsetWidth - parseFloat(columnGap);
  const largest = Math.round(LARGE * ratio);
  const fitting = (space, count) => Math.max(Math.floor((space * ratio) / count), 1);
  const cells = (space, count) => Math.min(fitting(space, count), largest);
  const width = (cells(room, columns) * columns) / ratio;
  const height = (cells(Math.min(Math.max(width, LOW), TALL), rows) * rows) / ratio;
  for (const part of [sheet, ends]) part.style.width = `${width}px`;
  for (const part of [sheet, legend]) part.style.height = `${height}px`;
  pictures.style.setProperty("--table", `${Math.min(width, room)}px`);
  if (width > room) frame.tabIndex = 0; // what scrolls can be reached
  else frame.removeAttribute("tabindex");
}

function twin(scene) {
  const { rows, columns, span, axes } = scene;
  const last = whole(span.start + rows - 1);
  const masked = scene.values.includes(-Infinity);
  return (
    `${whole(rows)} rows (${place(axes.row, span.start)} to ${last}) by ${whole(columns)} ` +
    `columns (${place(axes.column, 0)} to ${whole(columns - 1)}). ` +
    `${masked ? "What is masked is hatched. " : ""}Under the cursor, ${cell(scene)}.`
  );
}
