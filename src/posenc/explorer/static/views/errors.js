// A map of errors: one row a pair or head, one column a stretch of positions, on a scale of doublings.

import { html, svg, set } from "../dom.js";
import { errorOf, labelOf, levels, said } from "../narrowed.js";
import { paint, pixel } from "../pixels.js";
import { whole } from "../words.js";

// Levels of error: 10 to the power of -12, a tenth, one, and nothing left.
const [LEAST, NOTICED, ONE, LOST] = [80, 190, 200, 255];
const HIDDEN = 0; // a pixel that lets the hatching through
const ROW = 8; // CSS pixels of a row, where there is room

export function create(figure, change, page) {
  const canvas = html("canvas", { role: "img", "aria-labelledby": "errors-title", "aria-describedby": "errors-twin" });
  const [across, along] = [html("div", { class: "across" }), html("div", { class: "along" })];
  const sheet = html("div", { class: "sheet" }, canvas, across, along);
  const marks = html("p", { class: "marks", "aria-hidden": "true" });
  const key = html("p", { class: "key", "aria-hidden": "true" });
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  figure.querySelector(".drawing").append(ends, sheet, marks, key);
  figure.querySelector("figcaption").textContent = "Computing.";
  let shown = null;
  let painted = "";

  sheet.onpointerdown = (event) => {
    sheet.setPointerCapture(event.pointerId);
    pick(event, false);
  };
  sheet.onpointermove = (event) => event.buttons && pick(event, false);
  sheet.onpointerup = (event) => pick(event, true);
  function pick({ clientX, clientY }, done) {
    const { edges, count, rows } = shown.answer;
    const box = canvas.getBoundingClientRect();
    const part = (share, most) => Math.min(Math.max(Math.floor(share * most), 0), most - 1);
    const bin = part((clientX - box.left) / box.width, edges.length - 1);
    const row = part((clientY - box.top) / box.height, count);
    const column = shown.recipe.columns?.findIndex(([, pair]) => pair === row) ?? 0;
    change({ position: edges[bin], ...(rows === "head" ? { head: row } : { column }) }, { done });
  }

  return (scene) => {
    shown = scene;
    const { answer, settings, colours } = scene;
    const { edges, count, rows } = answer;
    const { format, cast, position } = settings;
    const map = levels(answer, settings);
    const bins = edges.length - 1;
    const state = [format, cast, colours.at(-1), answer.errors[format][cast]].join();
    if (state !== painted) {
      painted = state;
      paint(canvas, coloured(map, colours), bins);
      sheet.style.height = `${Math.min(Math.max(ROW * count, 96), 384)}px`;
      marks.replaceChildren(...landmarks(edges));
      key.replaceChildren(...legend(colours));
      ends.textContent = `${rows} 0 at the top, ${rows} ${count - 1} at the bottom`;
    }
    const row = Math.min(rowOf(scene), count - 1);
    const bin = Math.min(edges.findLastIndex((edge) => edge <= position), bins - 1);
    Object.assign(across.style, { height: `${100 / count}%`, translate: `0 ${100 * row}%` });
    Object.assign(along.style, { width: `${100 / bins}%`, translate: `${100 * bin}%` });
    figure.querySelector("figcaption").textContent = twin({ answer, map, row, bin, bins, settings, page });
  };
}

/** The row of the map under the cursor: the head, or the pair that the column is made of. */
function rowOf({ answer, settings, recipe, column }) {
  return answer.rows === "head" ? settings.head : recipe.columns?.[column]?.[1] ?? 0;
}

/** Errors as colours: none is that of zero, and one or more that of the highest number. */
function coloured(map, colours) {
  const lookup = Array.from({ length: LOST }, (_, level) => pixel(colours[colourOf(level, colours)]));
  return Uint32Array.from(map, (level) => lookup[level] ?? HIDDEN);
}

function colourOf(level, colours) {
  const middle = (colours.length - 1) / 2;
  const share = Math.min(Math.max((level - LEAST) / (ONE - LEAST), 0), 1);
  return middle + Math.round(share * middle);
}

function landmarks(edges) {
  const bins = edges.length - 1;
  return [1, 16, 256, 4096, 65_536, 1_048_576].map((number) => {
    const mark = html("span", {}, whole(number));
    mark.style.left = `min(${(100 * edges.indexOf(number)) / bins}%, 100% - 4rem)`;
    return mark;
  });
}

function legend(colours) {
  const swatch = (level) => {
    const looks = { viewBox: "0 0 1 1", class: "swatch", "aria-hidden": "true" };
    const patch = svg("svg", looks, svg("rect", { width: 1, height: 1 }));
    set(patch.firstChild, { fill: colours[colourOf(level, colours)] });
    return patch;
  };
  const steps = [0, 110, 140, 170, 185, ONE];
  const named = steps.map((level) => html("span", {}, swatch(level), level ? said(errorOf(level)) : "none"));
  return [...named, html("span", {}, html("i", { class: "hatched" }), "nothing left")];
}

function twin({ answer, map, row, bin, bins, settings, page }) {
  const { edges, rows } = answer;
  const level = map[row * bins + bin];
  const what = `${labelOf(page, "cast", settings.cast)} in ${settings.format}`;
  const from = (at) => `positions ${whole(edges[at])} to ${whole(edges[at + 1] - 1)}`;
  return `With ${what}, ${rows} ${row}, ${from(bin)}: ${outcome(level)}. ${begins(map, bins, from)}`;
}

function outcome(level) {
  if (level === LOST) return "nothing is left";
  return level ? `an error of about ${said(errorOf(level))}` : "no error";
}

/** Where the first error is that one would notice. */
function begins(map, bins, from) {
  const worst = new Uint8Array(bins);
  map.forEach((level, at) => {
    worst[at % bins] = Math.max(worst[at % bins], level);
  });
  const first = worst.findIndex((level) => level > NOTICED);
  if (first === -1) return "No error that was found is larger than 0.1.";
  return `The first error above 0.1 was found in ${from(first)}.`;
}
