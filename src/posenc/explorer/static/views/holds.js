// A ruler of whole numbers around the position: which of them a format holds.

import { html, set, svg } from "../dom.js";
import { held } from "../narrowed.js";
import { whole } from "../words.js";

const AROUND = 12; // whole numbers on each side
const STEPS = 3; // held numbers on each side, where they are far apart
const CLEAR = 0.2; // of the width that a number needs to be read
const [WIDTH, TOP, DOWN] = [100, 4, 13]; // of the drawing, in units of its own

export function create(figure) {
  const [all, kept] = [svg("path", { class: "axis" }), svg("path", { class: "kept" })];
  const [arrow, dot] = [svg("path", { class: "moved" }), svg("path", { class: "dot" })];
  const box = { viewBox: `0 0 ${WIDTH} ${DOWN}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  const drawing = svg("svg", box, all, kept, arrow, dot);
  const marks = html("p", { class: "marks", "aria-hidden": "true" });
  figure.querySelector(".drawing").append(drawing, marks);
  figure.querySelector("figcaption").textContent = "Computing.";

  return ({ settings, answer }) => {
    const { position, format } = settings;
    const seen = around(position, (numbers) => held(numbers, format, answer));
    const { low, high, numbers, becomes, at } = seen;
    const x = (number) => (WIDTH * (number - low + 0.5)) / (high - low + 1);
    const ticks = (list, from, to) => list.map((number) => `M${x(number)} ${from}V${to}`).join("");
    set(all, { d: `M0 ${DOWN}H${WIDTH}${high - low > 2 * AROUND ? "" : ticks(numbers, DOWN - 2, DOWN)}` });
    set(kept, { d: ticks(becomes, TOP + 3, DOWN) });
    const gone = !Number.isFinite(at);
    set(arrow, { d: gone || at === position ? "" : bow(x(position), x(at)) });
    set(dot, { d: `M${x(position)} ${TOP - 2}h0` });
    marks.replaceChildren(...labels(becomes, at, CLEAR * (high - low)).map((number) => {
      const mark = html("span", {}, whole(number));
      mark.style.left = `clamp(1.5rem, ${x(number)}%, 100% - 1.7rem)`; // not beyond the edge
      return mark;
    }));
    figure.querySelector("figcaption").textContent = twin(position, format, at, becomes, gone);
  };
}

/** From the position to the number it becomes. */
function bow(from, to) {
  return `M${from} ${TOP - 2}C${from} ${TOP} ${to} ${TOP - 1} ${to} ${TOP + 3}`;
}

/** The whole numbers in sight, the numbers they become, and what the position becomes. */
function around(position, hold) {
  const [at] = hold([position]);
  const window = (reach) => [Math.max(position - reach, 0), position + reach];
  const list = (low, high, step) => Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, n) => low + n * step);
  const heldOf = (numbers, low, high) => [...new Set(hold(numbers))].filter((n) => n >= low && n <= high);
  const [low, high] = window(AROUND);
  const numbers = list(low, high, 1);
  const becomes = heldOf(numbers, low, high);
  if (becomes.length > STEPS || !Number.isFinite(at)) return { low, high, numbers, becomes, at };
  // Held numbers are far apart: those next to the position say how far.
  let step = AROUND;
  while (hold([at + step])[0] === at) step *= 2;
  const wide = step * (STEPS + 1);
  const [from, to] = window(wide);
  return { low: from, high: to, numbers: [], becomes: heldOf(list(from, to, Math.max(Math.floor(step / 8), 1)), from, to), at };
}

/** Held numbers that have room to be written side by side, above all the one at the position. */
function labels(becomes, at, apart) {
  const chosen = becomes.includes(at) ? [at] : [];
  for (const number of [becomes[0], becomes.at(-1), ...becomes]) {
    if (chosen.every((other) => Math.abs(other - number) >= apart)) chosen.push(number);
  }
  return chosen.filter((number) => number !== undefined);
}

function twin(position, format, at, becomes, gone) {
  if (gone) return `${format} has no room for ${whole(position)}: it becomes infinite.`;
  const apart = becomes.length > 1 ? becomes.at(-1) - becomes.at(-2) : 1;
  const kept = at === position ? `${format} holds ${whole(position)}` : `In ${format} ${whole(position)} becomes ${whole(at)}`;
  if (apart === 1) return `${kept}. Around it every whole number is held.`;
  return `${kept}. Around it only every ${nth(apart)} whole number is held.`;
}

function nth(number) {
  const end = { 1: "st", 2: "nd", 3: "rd" }[number % 10];
  return `${whole(number)}${(Math.floor(number / 10) % 10 !== 1 && end) || "th"}`;
}
