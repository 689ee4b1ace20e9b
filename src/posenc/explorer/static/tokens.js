// Lengths of texts and turns of pairs: on scales of powers of ten, and in words.

import { html } from "./dom.js";
import { whole } from "./words.js";

/** Where a number stands between two others on a logarithmic scale: 0 at the first, 1 at the last. */
export function share(value, [low, high]) {
  return Math.log(value / low) / Math.log(high / low);
}

/** The powers of ten in a range. */
export function decades([low, high]) {
  const first = Math.ceil(Math.log10(low));
  const count = Math.floor(Math.log10(high)) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, step) => 10 ** (first + step));
}

/** A number beside a scale, in as few letters as it needs. */
export function brief(value) {
  return value.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 });
}

/** A word at a part of its row, which it does not leave. */
export function mark(part, text, name = "") {
  const element = html("span", { class: name }, text);
  element.style.left = `${100 * part}%`;
  element.style.translate = `${-100 * Math.min(Math.max(part, 0), 1)}%`;
  return element;
}

/** A number beside an upright scale: 0 is its upper end. */
export function level(part, text) {
  const element = html("span", {}, text);
  element.style.top = `${100 * part}%`;
  return element;
}

/** Keys of a picture: a class that colours it, and what it means. */
export function keys(meanings) {
  const parts = Object.entries(meanings).map(([name, meaning]) => html("span", { class: name }, meaning));
  return html("p", { class: "keys", "aria-hidden": "true" }, ...parts);
}

/** "18 of 64 pairs (46–63)", or "none of 64 pairs". */
export function pairs(chosen, all) {
  if (!chosen.length) return `none of ${all} pairs`;
  return `${chosen.length} of ${all} pairs (${ranges(chosen)})`;
}

function ranges(numbers) {
  const parts = [];
  for (const each of numbers) {
    const last = parts.at(-1);
    if (last && last[1] === each - 1) last[1] = each;
    else parts.push([each, each]);
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

/** "4,096 tokens". */
export function tokens(count) {
  return `${whole(count)} ${count === 1 ? "token" : "tokens"}`;
}

/** The pair under the cursor. */
export function pairAt({ recipe, column, answer }) {
  return Math.min(recipe.columns[column][1], answer.seen.length - 1);
}
