// The score of a query and a key against their distance, before a rule and after it.

import { html, line, plot, set, svg } from "../dom.js";
import { brief, decades, keys, level, mark, share, tokens } from "../tokens.js";
import { decimal, tick } from "../words.js";

export function create(figure) {
  const part = (name) => svg("path", { class: name });
  const beyond = svg("rect", { class: "beyond" });
  const [grid, zero, length] = [part("axis"), part("cursor"), part("trained")];
  const [before, after] = [part("plain"), part("curve")];
  const drawing = plot([0, 0, 1, 1], beyond, grid, zero, length, before, after);
  const scale = html("p", { class: "marks upright", "aria-hidden": "true" });
  const ticks = html("p", { class: "marks ticks", "aria-hidden": "true" });
  const key = keys({ curve: "as it turns now", plain: "without a rule", trained: "trained length" });
  figure.querySelector(".drawing").append(scale, drawing, ticks, key);

  return ({ answer }) => {
    const { curve, trained, wanted } = answer;
    const range = [1, Math.max(wanted, 2)];
    const values = [...curve.before, ...curve.after, 0];
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const height = (value) => (high - value) / (high - low);
    const at = (gap) => share(gap, range);
    // The logarithm has no place for distance 0, where both scores are highest.
    const path = (scores) => line(curve.gaps.flatMap((gap, n) => (gap ? [[at(gap), height(scores[n])]] : [])));
    key.querySelector(".plain").hidden = answer.after.kind === "none";
    const edge = Math.min(at(trained), 1);
    set(beyond, { x: edge, y: 0, width: 1 - edge, height: 1 });
    set(grid, { d: decades(range).map((gap) => `M${at(gap)} 0V1`).join("") });
    set(zero, { d: `M0 ${height(0)}H1` });
    set(length, { d: edge < 1 ? `M${edge} 0V1` : "" });
    set(before, { d: answer.after.kind === "none" ? "" : path(curve.before) });
    set(after, { d: path(curve.after) });
    scale.replaceChildren(...levels(low, high).map((value) => level(height(value), tick(value))));
    ticks.replaceChildren(...decades(range).map((gap) => mark(at(gap), gap === 1 ? "1 apart" : brief(gap))));
    figure.querySelector("figcaption").textContent = twin(answer);
  };
}

/** Where the scale has a number: its ends, and nothing where that is neither. */
function levels(low, high) {
  return low < -0.1 * high ? [high, 0, low] : [high, 0];
}

function twin({ curve, trained, wanted, after }) {
  const near = curve.gaps.findLastIndex((gap) => gap <= Math.min(trained, wanted) - 1);
  const last = curve.gaps.length - 1;
  const told = (n) => {
    const alone = `at a distance of ${tokens(curve.gaps[n])} ${decimal(curve.before[n])}`;
    return after.kind === "none" ? alone : `${alone} without the rule and ${decimal(curve.after[n])} with it`;
  };
  const sharper = curve.after[0] === 1 ? "" : ` without the rule and ${decimal(curve.after[0])} with it`;
  return (
    `The mean cosine of all pairs, times what the rule multiplies scores with. At distance 0 it is 1${sharper}, ` +
    `${told(near)}, ${told(last)}. Far points are means over many distances.`
  );
}
