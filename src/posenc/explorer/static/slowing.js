// A small picture of what a rule does: how many times slower each pair turns.

import { line, plot, svg } from "./dom.js";
import { share } from "./tokens.js";

/** The largest number of times that any of these rules slows a pair. */
export function most(effects) {
  return Math.max(...effects.flatMap(({ slower }) => slower.filter(Number.isFinite)), 2);
}

/** The picture of one rule. It is as high as `highest` times slower; a pair can be marked. */
export function slowing({ slower, unseen }, highest, pair = null) {
  const count = slower.length;
  const across = (at) => (at + 0.5) / count;
  const range = [0.8, highest * 1.25];
  const height = (times) => 1 - share(Math.min(times ?? highest, highest), range);
  const spots = slower.map((times, at) => [across(at), height(times)]);
  const base = svg("path", { class: "cursor", d: `M0 ${height(1)}H1` });
  const curve = svg("path", { class: "curve", d: line(spots) });
  const fresh = svg("path", { class: "fresh", d: unseen.map((at) => `M${spots[at].join(" ")}h0`).join("") });
  const here = svg("path", { class: "here", d: pair === null ? "" : `M${across(pair)} 0V1` });
  return plot([0, 0, 1, 1], here, base, curve, fresh);
}
