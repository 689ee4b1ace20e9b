// A query and a key as the two hands of a clock, one clock for each pair of their features.

import { html, set, svg } from "../dom.js";
import { dot } from "../kernel.js";
import { equallyFar, farTable, mixedWith, turnedTo, turns } from "../turning.js";
import { amount, decimal, place, whole } from "../words.js";

const MOST = 8; // clocks

export function create(figure) {
  const list = html("ol", { class: "dials" });
  const legend = html(
    "p",
    { class: "names" },
    html("span", { class: "query" }, "query"),
    html("span", { class: "key" }, "key"),
    html("span", { class: "before" }, "before turning"),
  );
  const score = html("p", { class: "score" });
  const drawing = figure.querySelector(".drawing");
  drawing.append(list, legend, score);
  let drawn = "";
  let dials = [];

  return (scene) => {
    const { recipe, settings, column, row, axes, span } = scene;
    drawing.style.display = turns(recipe) ? "" : "none";
    if (!turns(recipe)) {
      figure.querySelector("figcaption").textContent =
        "With these settings 0 pairs turn: a number is added to the score instead.";
      return;
    }
    const { gap } = settings;
    const current = recipe.columns[column][1];
    const pairs = chosen(recipe, current);
    const state = JSON.stringify([recipe.text, recipe.crossed?.partners, pairs]);
    if (state !== drawn) {
      drawn = state;
      dials = pairs.map((pair) => dial(recipe, pair));
      list.replaceChildren(...dials.map(({ item }) => item));
    }
    const { query, key } = recipe.example;
    const far = farTable(scene);
    const turnedAt = (at) => ({
      query: turnedTo(far, query, at + gap, "query"),
      key: turnedTo(far, key, at, "key"),
    });
    const [here, start] = [turnedAt(row), turnedAt(0)];
    for (const each of dials) each.move(here, current);
    const now = decimal(dot(here.query, here.key));
    score.textContent = `Score of this query and key: ${now}`;
    const again = equallyFar(far, [row + gap, row], [gap, 0])
      ? "and the same distance it is"
      : "from where the same steps in reading order lead another way, it is";
    const [at, first] = [row, 0].map((each) => place(axes.row, span.start + each));
    figure.querySelector("figcaption").textContent =
      `The key stands at ${at}, the query ${whole(gap)} further on. Their score is ${now}; ` +
      `with the key at ${first} ${again} ${decimal(dot(start.query, start.key))}. ` +
      angles(far, current, row, gap);
  };
}

/** All pairs where they are few, else those worth showing and the one under the cursor. */
function chosen(recipe, current) {
  if (recipe.partners.length <= MOST) return [...recipe.partners.keys()];
  const pairs = recipe.picks.map((column) => recipe.columns[column][1]);
  const others = pairs.filter((pair) => pair !== current).slice(0, MOST - 1);
  return [...others, current].sort((one, other) => one - other);
}

function dial(recipe, pair) {
  const places = recipe.partners[pair];
  const { query, key } = recipe.example;
  const at = (vector) => places.map((place) => vector[place]);
  // Two features that turn apart can both take all that they are mixed with.
  const mixed = recipe.crossed ? places.map((place) => mixedWith(recipe)[place]) : [];
  const reached = [...places, ...mixed];
  const longest = (vector) => Math.hypot(...reached.map((place) => vector[place]));
  const size = Math.max(longest(query), longest(key));
  const before = (name, vector) => {
    const [x, y] = at(vector);
    return svg("path", { class: `${name} before`, d: ray(x / size, y / size) });
  };
  const hand = (name) => ({ arm: svg("path", { class: name }), tip: svg("text", {}, name[0]) });
  const hands = { query: hand("query"), key: hand("key") };
  const face = svg(
    "svg",
    { viewBox: "-1.3 -1.3 2.6 2.6", "aria-hidden": "true" },
    svg("circle", { class: "face", r: 1.05 }),
    svg("path", { class: "axis", d: "M-1.05 0H1.05M0 -1.05V1.05" }),
    before("query", query),
    before("key", key),
    ...Object.values(hands).flatMap(({ arm, tip }) => [arm, tip]),
  );
  const frequency = recipe.frequencies[pair];
  const speed = html("span", {}, frequency === undefined ? "" : `${amount(frequency)} rad a step`);
  const item = html("li", {}, face, html("p", {}, `pair ${pair}`, speed));
  return {
    item,
    move(turned, current) {
      for (const [name, { arm, tip }] of Object.entries(hands)) {
        const [x, y] = at(turned[name]).map((value) => value / size / recipe.scale);
        const out = 1 + 0.16 / Math.hypot(x, y); // the letter stands just beyond the tip
        set(arm, { d: ray(x, y) });
        set(tip, { x: x * out, y: -y * out });
      }
      set(item, { class: pair === current ? "current" : "" });
    },
  };
}

function ray(x, y) {
  return `M0 0L${x.toFixed(4)} ${(-y).toFixed(4)}`;
}

function angles({ recipe }, pair, row, gap) {
  const { partners, frequencies, places, pair_axes: axes, mistake } = recipe;
  const made = `Pair ${pair} is made of features ${partners[pair].join(" and ")}`;
  if (recipe.crossed) return `${made}, ${astray(partners[pair], mixedWith(recipe))}.`;
  if (mistake || frequencies[pair] === undefined) return `${made}.`;
  const axis = axes?.[pair] ?? 0;
  const steps = places.length ? places[row + gap][axis] - places[row][axis] : gap;
  return (
    `${made}; at this distance the query's hand has turned ${decimal(steps * frequencies[pair])} ` +
    `radians further than the key's.`
  );
}

/** What a mistake does to the two features of a pair that should turn together. */
function astray([one, other], mixed) {
  if (mixed[one] === other) return "but the mistake turns each of the two by an angle of its own";
  return `but the mistake turns feature ${one} with ${mixed[one]}, and ${other} with ${mixed[other]}`;
}
