// The example query and key of a rotary recipe, turned to any row of its table.

import { cosinesAndSines, crossed, rotate, turned, unpacked } from "./kernel.js";

const KEPT = 4; // ways to turn a vector whose results are remembered
const turnedBefore = new WeakMap(); // by vector: the ways, each with the rows it was turned to

/**
 * A vector turned to a row of a table { recipe, span, values, columns }. `partners` says which two
 * features are a pair; another pairing than the recipe's own can be tried.
 */
export function turnedTo(table, vector, row, role, partners = table.recipe.partners) {
  const rows = rowsOf(vector, [table.recipe, table.span.start, role, partners]);
  rows[row] ??= turnedNow(table, vector, row, role, partners);
  return rows[row];
}

/** What is known of a vector that is turned in one way. */
function rowsOf(vector, way) {
  const ways = turnedBefore.get(vector) ?? [];
  const known = ways.find((other) => other.way.every((part, at) => part === way[at]));
  if (known) return known.rows;
  const rows = [];
  turnedBefore.set(vector, [{ way, rows }, ...ways].slice(0, KEPT));
  return rows;
}

function turnedNow(table, vector, row, role, partners) {
  const { recipe, span } = table;
  if (recipe.crossed) return crossed(vector, ...crossedRow(recipe.crossed, row), recipe.crossed.partners);
  if (recipe.kind !== "waves") return turned(vector, ...cosinesAndSines(table, row), partners);
  return rotate({ ...recipe, partners }, vector, span.start + row, role);
}

/** Cosines and sines of one row of features that a mistake does not turn as pairs. */
function crossedRow(recipe, row) {
  return cosinesAndSines({ values: unpacked(recipe), columns: recipe.shape[1] }, row);
}

/** For each feature the one that it is mixed with by turning; itself where it stays. */
export function mixedWith({ partners, crossed: wrong, example: { key } }) {
  if (wrong) return wrong.partners;
  const found = Array.from(key, (_, feature) => feature);
  for (const [one, other] of partners) [found[one], found[other]] = [other, one];
  return found;
}

/** A table with rows for a query beyond every key; a closed form has any row. */
export function farTable(scene) {
  return scene.recipe.kind === "waves" ? scene : scene.got.far;
}

/** Whether anything turns: some settings put a bias in the place of a rotation. */
export function turns({ partners }) {
  return Boolean(partners?.length);
}

/** The score of a query in one row and a key in another. */
export function score(table, queryRow, keyRow, partners, { query, key } = table.recipe.example) {
  return sum(products(table, queryRow, keyRow, partners, { query, key }));
}

/** What each pair adds to the score, and what the features add that do not turn. */
export function shares(table, queryRow, keyRow) {
  const { partners } = table.recipe;
  const each = products(table, queryRow, keyRow);
  const turning = new Set(partners.flat());
  return {
    pairs: partners.map(([one, other]) => each[one] + each[other]),
    rest: sum(each.filter((_, feature) => !turning.has(feature))),
  };
}

function products(table, queryRow, keyRow, partners, { query, key } = table.recipe.example) {
  const keyHere = turnedTo(table, key, keyRow, "key", partners);
  const queryHere = turnedTo(table, query, queryRow, "query", partners);
  return Array.from(queryHere, (value, at) => value * keyHere[at]);
}

function sum(numbers) {
  return numbers.reduce((total, value) => total + value, 0);
}

/** Whether two pairs of rows stand equally far apart, on a grid along every axis. */
export function equallyFar({ recipe: { places } }, [query, key], [otherQuery, otherKey]) {
  if (!places.length) return query - key === otherQuery - otherKey;
  const steps = (from, to) => places[to].map((at, axis) => at - places[from][axis]);
  return String(steps(key, query)) === String(steps(otherKey, otherQuery));
}

/** For each feature of one pairing the feature that has its part in another pairing. */
export function permutation(partners, others, length) {
  const found = Array.from({ length }, (_, feature) => feature);
  partners.forEach((places, pair) => places.forEach((place, part) => {
    found[place] = others[pair][part];
  }));
  return found;
}

/** The first column of a pair. */
export function columnOf({ columns }, pair) {
  return columns.findIndex(([, own]) => own === pair);
}
