// How alike every two places are, and what that says about distances.

import { gram } from "./kernel.js";
import { turnedTo } from "./turning.js";

let last = { key: [], found: null };

/**
 * The similarity of every row with every row: { values, rows, lowest, highest }, what it is by
 * distance as `curve`, and its `defect`. It is kept until the table changes.
 */
export function similarity(scene) {
  const { values, settings } = scene;
  const key = [values, settings.measure, settings.content];
  if (key.some((part, at) => part !== last.key[at])) last = { key, found: compared(scene) };
  return last.found;
}

function compared(scene) {
  const { rows, recipe } = scene;
  const values = Float32Array.from(MAKERS[recipe.family](scene));
  const seen = values.filter(Number.isFinite);
  const lowest = seen.reduce((least, value) => Math.min(least, value), seen[0] ?? 0);
  const highest = seen.reduce((most, value) => Math.max(most, value), seen[0] ?? 0);
  const parts = { values, rows, lowest, highest };
  return { ...parts, curve: byDistance(parts), defect: defect(parts, recipe.places) };
}

const MAKERS = { absolute: vectors, rotary: scores, bias: added, term: added };

function vectors({ values, rows, columns, settings }) {
  const products = gram(values, rows, columns);
  if (settings.measure !== "cosine") return products;
  const lengths = Array.from({ length: rows }, (_, row) => Math.sqrt(products[row * rows + row]));
  return products.map((product, at) => {
    const both = lengths[Math.floor(at / rows)] * lengths[at % rows];
    return both ? product / both : 0;
  });
}

/** Scores of one query and one key, wherever they stand. */
function scores(scene) {
  const { rows, recipe, settings } = scene;
  const { query, key } = recipe.example;
  const plain = settings.content === "alike" ? query.map(() => 1) : null;
  const turnedRows = (vector, role) =>
    Array.from({ length: rows }, (_, row) => turnedTo(scene, plain ?? vector, row, role));
  const [queries, keys] = [turnedRows(query, "query"), turnedRows(key, "key")];
  const found = new Float64Array(rows * rows);
  queries.forEach((one, row) => keys.forEach((other, column) => {
    let sum = 0;
    for (let at = 0; at < one.length; at += 1) sum += one[at] * other[at];
    found[row * rows + column] = sum;
  }));
  return found;
}

function added({ values }) {
  return values;
}

/** For each distance from query to key: { gap, mean, low, high } over all places; [] in between. */
function byDistance({ values, rows }) {
  const found = [];
  for (let gap = 1 - rows; gap < rows; gap += 1) {
    let [sum, count, low, high] = [0, 0, Infinity, -Infinity];
    for (let row = Math.max(gap, 0); row < Math.min(rows, rows + gap); row += 1) {
      const value = values[row * rows + row - gap];
      if (!Number.isFinite(value)) continue;
      sum += value;
      count += 1;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (count) found.push({ gap, mean: sum / count, low, high });
  }
  return found;
}

/**
 * The largest spread among places equally far apart, { spread, low, high }: each of the two says
 * which query and key it is. On a grid, as far apart along every axis.
 */
function defect({ values, rows }, places) {
  const groups = new Map();
  for (let at = 0; at < values.length; at += 1) {
    if (!Number.isFinite(values[at])) continue;
    const [row, column] = [Math.floor(at / rows), at % rows];
    const apart = places.length ? steps(places[row], places[column]) : row - column;
    const group = groups.get(apart);
    if (!group) groups.set(apart, [at, at]);
    else if (values[at] < values[group[0]]) group[0] = at;
    else if (values[at] > values[group[1]]) group[1] = at;
  }
  const spread = ([low, high]) => values[high] - values[low];
  const [low, high] = [...groups.values()].reduce((worst, group) =>
    spread(group) > spread(worst) ? group : worst,
  );
  const place = (at) => ({ row: Math.floor(at / rows), column: at % rows, value: values[at] });
  return { spread: spread([low, high]), low: place(low), high: place(high) };
}

function steps(one, other) {
  return one.map((value, axis) => (value - other[axis]).toFixed(6)).join();
}

/** Whether a spread is only what float32 numbers leave of a sum over so many features. */
export function isRounding({ lowest, highest }, spread, columns) {
  return spread <= 2 ** -23 * columns * Math.max(-lowest, highest);
}
