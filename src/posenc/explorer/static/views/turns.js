// When each pair finishes its first turn: one dot a pair, positions on a scale of powers of ten.

import { dots, html, plot, set, svg } from "../dom.js";
import { countable, hasPairs, lengthOf, pairsOf, turnsOf, unitOf } from "../pairs.js";
import { amount, whole } from "../words.js";

export function create(figure) {
  const [grid, later] = [svg("path", { class: "axis" }), svg("path", { class: "points" })];
  const [finished, ring] = [svg("path", { class: "finished" }), svg("path", { class: "dot" })];
  const cursor = svg("path", { class: "cursor" });
  const drawing = plot([0, 0, 1, 1], grid, cursor, later, finished, ring);
  const scale = html("p", { class: "heads", "aria-hidden": "true" });
  figure.querySelector(".drawing").append(drawing, scale);

  return (scene) => {
    const { recipe, row, column, span } = scene;
    figure.hidden = !countable(recipe) || !hasPairs(recipe);
    if (figure.hidden) return;
    const pairs = pairsOf(recipe);
    const lengths = pairs.map((pair) => Math.abs(lengthOf(recipe, pair)));
    const done = pairs.map((pair) => Math.abs(turnsOf(scene, pair, row)) >= 1);
    const high = Math.ceil(Math.log10(Math.max(...lengths.filter(Number.isFinite), 10)));
    const spots = pairs.map(({ pair }, at) => [Math.log10(lengths[at]), at, pair]);
    const chosen = (wanted) => dots(spots.filter(([x], at) => Number.isFinite(x) && wanted(at)));
    set(drawing, { viewBox: `0 -1 ${high} ${pairs.length + 1}` });
    const decades = Array.from({ length: high + 1 }, (_, power) => power);
    set(grid, { d: decades.map((power) => `M${power} -1V${pairs.length}`).join("") });
    set(later, { d: chosen((at) => !done[at]) });
    set(finished, { d: chosen((at) => done[at]) });
    set(ring, { d: chosen((at) => pairs[at].pair === recipe.columns[column][1]) });
    // On a grid each axis has a position of its own, so there is no one line.
    const at = recipe.places.length ? 0 : span.start + row + (recipe.offset ?? 0);
    set(cursor, { d: at >= 1 ? `M${Math.min(Math.log10(at), high)} -1V${pairs.length}` : "" });
    scale.replaceChildren(...decades.map((power) => html("span", {}, short(power))));
    figure.querySelector("figcaption").textContent = twin(recipe, pairs, lengths, done);
  };
}

function short(power) {
  return power < 4 ? whole(10 ** power) : html("span", {}, "10", html("sup", {}, String(power)));
}

function twin(recipe, pairs, lengths, done) {
  const [fast, slow] = [Math.min, Math.max].map((most) => lengths.indexOf(most(...lengths)));
  const next = lengths.reduce(
    (best, length, at) => (!done[at] && (best < 0 || length < lengths[best]) ? at : best),
    -1,
  );
  const name = (at) => `pair ${pairs[at].pair}`;
  const follows = next < 0
    ? "All have finished one."
    : `The next to finish one is ${name(next)}, after ${amount(lengths[next])} ${unitOf(recipe)}.`;
  return (
    `A turn takes from ${amount(lengths[fast])} ${unitOf(recipe)} (${name(fast)}) to ` +
    `${amount(lengths[slow])} (${name(slow)}). ${follows}`
  );
}
