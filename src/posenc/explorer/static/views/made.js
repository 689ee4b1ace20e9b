// What the encoding does to the chosen word where it stands in each order: adds a code to it, turns
// it, or adds to its scores.

import { html, plot, set, svg } from "../dom.js";
import { unpacked } from "../kernel.js";
import { added, chosen, quoted, shown, sumAt, toy } from "../order.js";
import { turnedTo } from "../turning.js";
import { decimal, tick, whole } from "../words.js";

const ORDERS = ["your order", "the other order"];
const NOTHING = { rows: [], words: "There is no word yet." };

export function create(figure) {
  const list = html("div", { class: "rows" });
  figure.querySelector(".drawing").append(list);
  const rows = [];

  return (scene) => {
    const found = toy(scene);
    const caption = figure.querySelector("figcaption");
    const { rows: wanted, words } = found.words.length ? MAKERS[scene.recipe.family](scene, found) : NOTHING;
    while (rows.length < wanted.length) rows.push(row());
    list.replaceChildren(...wanted.map((_, at) => rows[at].element));
    wanted.forEach((each, at) => rows[at].update(each));
    caption.textContent = words;
  };
}

function row() {
  const name = html("p", { class: "detail" });
  const [plus, minus] = [svg("path", { class: "plus" }), svg("path", { class: "minus" })];
  const axis = svg("path", { class: "axis" });
  const drawing = plot([0, 0, 1, 1], axis, plus, minus);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  const under = html("p", { class: "over", "aria-hidden": "true" });
  return {
    element: html("div", { class: "row" }, name, drawing, scale, under),
    update({ label, values, most, names = [] }) {
      name.textContent = label;
      set(drawing, { viewBox: `0 ${-1.04 * most} ${values.length} ${2.08 * most}` });
      set(axis, { d: `M0 0H${values.length}` });
      set(plus, { d: bars(values, (value) => value > 0) });
      set(minus, { d: bars(values, (value) => value < 0 && value > -Infinity) });
      scale.replaceChildren(...[most, -most].map((end) => html("span", {}, tick(end))));
      under.replaceChildren(...names.map((each) => html("bdi", {}, each)));
    },
  };
}

export function bars(values, chosenOnes) {
  const gap = values.length > 256 ? 0 : 0.12;
  return Array.from(values, (value, at) => (chosenOnes(value) ? `M${at + gap} 0v${-value}h${1 - 2 * gap}v${value}z` : "")).join("");
}

const MAKERS = { absolute: summed, rotary: turned, bias: scored, term: scored };

/** The vector of the chosen word, its name, and its place in each order. */
function wordOf(scene, found) {
  const word = chosen(scene, found);
  const [, width] = scene.answer.words.shape;
  const start = found.ids[word] * width;
  return {
    vector: [...unpacked(scene.answer.words).subarray(start, start + width)],
    name: quoted(found.words[word]),
    places: found.orders.map((order) => order.indexOf(word)),
  };
}

function summed(scene, found) {
  const { vector, name, places } = wordOf(scene, found);
  const { values, columns } = scene;
  if (!found.with) return { rows: [], words: misfit(scene, vector) };
  const code = (place) => [...values.subarray(place * columns, (place + 1) * columns)];
  const different = distinct(places);
  const parts = different.flatMap(({ place, label }) => [
    { label: `+ code of place ${place}, ${label}`, values: code(place) },
    { label: "= what attention sees", values: sumAt(scene, vector, place) },
  ]);
  const rows = common([{ label: `Embedding of ${name}`, values: vector }, ...parts]);
  const told = different.map(({ place, label }) =>
    `at place ${place}, in ${label}, the code is ${size(code(place))} long and the sum ${size(sumAt(scene, vector, place))}`);
  return { rows, words: `The embedding of ${name} is ${size(vector)} long; ${told.join("; ")}.` };
}

function misfit({ rows, columns }, vector) {
  const table = `${whole(rows)} rows of ${whole(columns)} numbers`;
  return `${table} do not fit words of ${whole(vector.length)}: with this mistake nothing can be added.`;
}

function turned(scene, found) {
  const { vector, name, places } = wordOf(scene, found);
  const different = distinct(places);
  const at = (place, role) => [...turnedTo(scene, vector, place, role)];
  // Some turn a query and a key apart, or lengthen one and shorten the other.
  const roles = ["query", "key"];
  const alike = different.every(({ place }) => at(place, "query").join() === at(place, "key").join());
  const parts = different.flatMap(({ place, label }) =>
    (alike ? ["query"] : roles).map((role) => ({
      label: `${alike ? "as query and as key" : `as ${role}`}, turned to place ${place}, ${label}`,
      values: at(place, role),
    })));
  const rows = common([{ label: `Query, key and value of ${name}`, values: vector }, ...parts]);
  const moved = different.map(({ place, label }) => {
    const away = vector.map((value, feature) => value - at(place, "query")[feature]);
    return `at place ${place}, in ${label}, its query is turned to ${size(away)} from there and is ${size(at(place, "query"))} long`;
  });
  return { rows, words: `The vector of ${name} is ${size(vector)} long; ${moved.join("; ")}. As a value it stays as it is.` };
}

/** What is added to the scores of the chosen word, for every word that it looks at. */
function scored(scene, found) {
  const { name, places } = wordOf(scene, found);
  const numbers = places.map((place, at) => {
    const ids = found.orders[at].map((word) => found.ids[word]);
    return ids.map((_, other) => added(scene, ids, place, other));
  });
  const rows = common(numbers.map((values, at) => ({
    label: `Added to the scores of ${name} in ${ORDERS[at]}`,
    values,
    names: found.orders[at].map((word) => shown(found.words[word])),
  })));
  const told = numbers.map((values, at) => {
    const each = found.orders[at].map((word, other) => `${decimal(values[other])} for ${quoted(found.words[word])}`);
    return `in ${ORDERS[at]} ${each.slice(0, 6).join(", ")}${each.length > 6 ? " and so on" : ""}`;
  });
  return { rows, words: `The vector of ${name} stays as it is. To its scores is added, ${told.join("; ")}.` };
}

/** The places of a word, once where they are the same in both orders. */
function distinct([one, other]) {
  if (one === other) return [{ place: one, label: "both orders" }];
  return [one, other].map((place, at) => ({ place, label: ORDERS[at] }));
}

/** Rows that share one scale. */
function common(rows) {
  const seen = rows.flatMap(({ values }) => values).filter(Number.isFinite);
  const most = Math.max(...seen.map(Math.abs), 0) || 1;
  return rows.map((each) => ({ ...each, most }));
}

function size(vector) {
  return decimal(Math.hypot(...vector));
}
