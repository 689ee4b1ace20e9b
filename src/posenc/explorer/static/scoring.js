// Scores of the example text for one query: before and after something is added, and the attention
// that follows.

import { dot, softmax, unpacked } from "./kernel.js";

/**
 * Of the query under the cursor, a number for each key: { before, added, after, plain, weights },
 * `plain` being the attention without what is added; `hidden`, whether no attention can go there.
 */
export function scoring(scene) {
  const { row, answer, settings } = scene;
  const { values, columns, recipe } = scene.got.open ?? scene;
  const masked = settings.mask === "on" && !recipe.places.length;
  const added = [...values.subarray(row * columns, (row + 1) * columns)];
  const hidden = added.map((value, key) => value === -Infinity || (masked && key > row));
  const query = vector(answer.queries, row);
  const before = added.map((_, key) => dot(query, vector(answer.keys, key)));
  const after = before.map((score, key) => score + added[key]);
  const seen = (scores) => softmax(scores.map((score, key) => (hidden[key] ? -Infinity : score)));
  return { before, added, after, hidden, masked, plain: seen(before), weights: seen(after) };
}

function vector(array, at) {
  const [, width] = array.shape;
  return unpacked(array).subarray(at * width, (at + 1) * width);
}

/** How far each key lies from a row, in positions or in steps along the longer side of a grid. */
export function distances({ recipe, rows, columns }, row) {
  const { places } = recipe;
  if (!places.length) return Array.from({ length: columns }, (_, key) => Math.abs(row - key));
  if (rows !== columns) return null; // keys are pooled: they stand on a grid of their own
  return places.map((place) => Math.max(...place.map((at, axis) => Math.abs(at - places[row][axis]))));
}

/** The share of attention within each distance from 0 on. */
export function within(weights, apart) {
  const shares = new Array(Math.max(...apart) + 1).fill(0);
  weights.forEach((weight, key) => {
    shares[apart[key]] += weight;
  });
  let sum = 0;
  return shares.map((share) => (sum += share));
}

/** The least distance within which a share of attention falls. */
export function reachOf(sums, share) {
  return sums.findIndex((sum) => sum >= share * sums.at(-1));
}
