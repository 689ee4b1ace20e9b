// One column around the position: as it is, and as the chosen format leaves it.

import { dots, html, line, plot, set, svg } from "../dom.js";
import { bias } from "../kernel.js";
import { held, labelOf } from "../narrowed.js";
import { content, decimal, tick, whole } from "../words.js";

const AROUND = 24; // positions on each side

export function create(figure, change, page) {
  const [axis, cursor] = [svg("path", { class: "axis" }), svg("path", { class: "cursor" })];
  const [right, points] = [svg("path", { class: "faint" }), svg("path", { class: "points small" })];
  const [curve, dot] = [svg("path", { class: "curve" }), svg("path", { class: "dot" })];
  const drawing = plot([0, 0, 1, 1], axis, cursor, right, curve, points, dot);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  const names = ["as it is", "as it is left"].map((name, at) => html("span", { class: at ? "" : "whole" }, name));
  figure.querySelector(".drawing").append(drawing, scale, ends, html("p", { class: "names", "aria-hidden": "true" }, ...names));
  figure.querySelector("figcaption").textContent = "Computing.";

  return (scene) => {
    const ways = MAKERS[scene.recipe.kind]?.(scene);
    figure.hidden = !ways;
    if (!ways) return;
    const { position, format, cast } = scene.settings;
    const low = Math.max(position - AROUND, 0);
    const places = Array.from({ length: position + AROUND - low + 1 }, (_, at) => low + at);
    const hold = (value) => held([value], format, scene.answer)[0];
    const [exact, left] = [(value) => value, hold].map((kept) => places.map((place) => made(ways, cast, kept, place)));
    const seen = [...exact, ...left].filter(Number.isFinite);
    const [bottom, top] = ways.range ?? [Math.min(...seen), Math.max(...seen)];
    const slack = 0.08 * (top - bottom || 1);
    set(drawing, { viewBox: `${low - 0.5} ${-top - slack} ${places.length} ${top - bottom + 2 * slack}` });
    set(axis, { d: `M${low - 0.5} 0H${position + AROUND + 0.5}` });
    set(cursor, { d: `M${position} ${-top - slack}V${-bottom + slack}` });
    const finite = left.map((value, at) => [places[at], -value]).filter(([, y]) => Number.isFinite(y));
    set(right, { d: line(exact.map((value, at) => [places[at], -value])) });
    set(curve, { d: line(finite) });
    set(points, { d: dots(finite) });
    set(dot, { d: dots(finite.filter(([x]) => x === position)) });
    scale.replaceChildren(...[top, bottom].map((end) => html("span", {}, tick(end))));
    ends.replaceChildren(...[low, position + AROUND].map((end) => html("span", {}, `${ways.place} ${whole(end)}`)));
    const at = position - low;
    figure.querySelector("figcaption").textContent =
      `At ${ways.place} ${whole(position)} the ${ways.name} is ${decimal(exact[at])}; with ` +
      `${labelOf(page, "cast", cast)} in ${format} ${outcome(exact[at], left[at])}.`;
  };
}

function outcome(exact, left) {
  if (!Number.isFinite(left)) return "nothing is left of it";
  const [before, after] = [exact, left].map(decimal);
  return before === after ? "it stays that" : `it becomes ${after}`;
}

/** One number, with what is cast kept by a format; see CASTS of the room. */
function made({ rate, product, finish }, cast, kept, place) {
  const when = (...casts) => (casts.includes(cast) ? kept : (value) => value);
  const where = when("positions", "every")(place);
  const speed = when("rates", "every")(rate);
  const turned = when("products", "every")(product(where, speed));
  return when("every", "end")(finish(turned));
}

// Per kind of recipe: what is multiplied with a position, and what is made of the product.
const MAKERS = {
  waves({ recipe, column }) {
    const [wave, pair] = recipe.columns[column];
    const finish = { cos: Math.cos, sin: Math.sin }[wave];
    if (!finish) return null;
    const product = (place, frequency) => place * frequency;
    return { rate: recipe.frequencies[pair], product, finish, name: content(recipe, column), place: "position", range: [-1, 1] };
  },
  bias({ recipe, settings }) {
    const head = Math.min(settings.head, recipe.slopes.length - 1);
    const product = (place, slope) => (Number.isFinite(place) ? bias({ ...recipe, slopes: [slope] }, 0, place, 0) : NaN);
    return { rate: recipe.slopes[head], product, finish: (value) => value, name: `bias of head ${head}`, place: "distance" };
  },
};
