// The whole table on a canvas, one pixel a cell, enlarged by whole device pixels.

import { html } from "../dom.js";
import { wavelength } from "../kernel.js";
import { amount, cell, place, tick, whole } from "../words.js";
import * as numbers from "./numbers.js";

const MASKED = 0; // a pixel that lets the hatching through
const [LOW, TALL] = [320, 640]; // CSS pixels; between them a table is about as tall as wide
const WIDE = 544; // CSS pixels that do not fit beside other pictures
const LARGE = 40; // the largest cell, in CSS pixels

export function create(figure, change) {
  const named = { "aria-labelledby": "matrix-title" };
  const canvas = html("canvas", { role: "img", "aria-describedby": "matrix-twin", ...named });
  const [across, along] = [html("div", { class: "across" }), html("div", { class: "along" })];
  const sheet = html("div", { class: "sheet" }, canvas, across, along);
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  const frame = html("div", { class: "scroll", role: "region", ...named }, sheet, ends);
  const legend = html("div", { class: "legend", "aria-hidden": "true" });
  const details = numbers.create();
  figure.querySelector(".drawing").append(frame, legend, details.element);

  let shown = null;
  let painted = [];
  const fit = () => shown && resize({ figure, frame, sheet, ends, legend }, shown);
  new ResizeObserver(fit).observe(figure);

  sheet.onpointerdown = (event) => {
    sheet.setPointerCapture(event.pointerId);
    pick(event, false);
  };
  sheet.onpointermove = (event) => event.buttons && pick(event, false);
  sheet.onpointerup = (event) => pick(event, true);
  function pick({ clientX, clientY }, done) {
    const box = canvas.getBoundingClientRect();
    const row = share((clientY - box.top) / box.height, shown.rows) + shown.span.start;
    const column = share((clientX - box.left) / box.width, shown.columns);
    change({ [shown.axes.row.control]: row, [shown.axes.column.control]: column }, { done });
  }

  return (scene) => {
    shown = scene;
    if (painted[0] !== scene.values || painted[1] !== scene.colours) {
      painted = [scene.values, scene.colours];
      const largest = -scene.lowest || 1;
      paint(canvas, scene, largest);
      paintLegend(legend, scene, largest);
      ends.replaceChildren(...[0, scene.columns - 1].map((at) => html("span", {}, end(scene, at))));
      fit();
    }
    const { row, column, rows, columns } = scene;
    Object.assign(across.style, { height: `${100 / rows}%`, translate: `0 ${100 * row}%` });
    Object.assign(along.style, { width: `${100 / columns}%`, translate: `${100 * column}%` });
    figure.querySelector("figcaption").textContent = twin(scene);
    details.show(scene);
  };
}

/** A word under the first and the last column. */
function end({ recipe, axes }, column) {
  const name = place(axes.column, column);
  if (recipe.kind !== "waves") return name;
  return `${name}: a turn in ${amount(wavelength(recipe, column))}`;
}

function share(part, count) {
  return Math.min(Math.max(Math.floor(part * count), 0), count - 1);
}

/** Colours of the table as one 32-bit number each. */
function paint(canvas, { values, rows, columns, colours }, largest) {
  const lookup = Uint32Array.from(colours, pixel);
  const pixels = new Uint32Array(values.length);
  const zero = (colours.length - 1) / 2;
  const step = zero / largest;
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    pixels[at] = value === -Infinity ? MASKED : lookup[Math.round(value * step) + zero];
  }
  Object.assign(canvas, { width: columns, height: rows });
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), columns, rows);
  canvas.getContext("2d").putImageData(image, 0, 0);
}

function pixel(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0];
}

function paintLegend(legend, { recipe, colours }, largest) {
  const both = recipe.kind === "waves"; // a bias has only the negative half
  const shown = (both ? colours : colours.slice(0, (colours.length + 1) / 2)).toReversed();
  const bar = html("canvas", { width: 1, height: shown.length });
  const image = new ImageData(1, shown.length);
  new Uint32Array(image.data.buffer).set(shown.map(pixel));
  bar.getContext("2d").putImageData(image, 0, 0);
  const ends = both ? [largest, 0, -largest] : [0, -largest];
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
  const { rows, columns, span, axes, recipe } = scene;
  const last = whole(span.start + rows - 1);
  const masked = recipe.kind === "bias" && recipe.ahead === null;
  return (
    `${whole(rows)} rows (${place(axes.row, span.start)} to ${last}) by ${whole(columns)} ` +
    `columns (${place(axes.column, 0)} to ${whole(columns - 1)}). ` +
    `${masked ? "Keys ahead of the query are masked. " : ""}Under the cursor, ${cell(scene)}.`
  );
}
