// A toy of attention: the words of a sentence in two orders, without positions and with them.

import { dot, softmax, unpacked } from "./kernel.js";
import { turnedTo } from "./turning.js";

const LONGEST = 20; // signs of a word that are shown

let last = { key: [], found: null };

/**
 * The whole toy: { words, dropped, orders, without, with, fits }.
 *
 * words     the words of the sentence, at most as many as the library has vectors for
 * dropped   how many there were beyond them
 * orders    for each order, which word of the sentence stands at each place
 * without   of each order: { scores, weights, outputs }, a row for each place
 * with      the same with the encoding; null where its table cannot be added to words
 */
export function toy(scene) {
  const { sentence, order, shuffle, mask } = scene.settings;
  const key = [scene.values, scene.answer, sentence, order, shuffle, mask];
  if (key.some((part, at) => part !== last.key[at])) last = { key, found: made(scene) };
  return last.found;
}

function made(scene) {
  const all = split(scene.settings.sentence);
  const [most, width] = scene.answer.words.shape;
  const words = all.slice(0, most);
  const ids = numbered(words);
  const first = words.map((_, at) => at);
  const orders = [first, otherOrder(scene.settings, ids)];
  const fits = scene.recipe.family !== "absolute" || scene.columns === width;
  const run = (encoded) => orders.map((places) => attend(scene, places.map((word) => ids[word]), encoded));
  return { words, dropped: all.length - words.length, ids, orders, without: run(false), with: fits ? run(true) : null };
}

/** Words between blanks; marks that change the direction of text are left out. */
function split(sentence) {
  return sentence.split(/[\s\p{Cc}\p{Bidi_Control}]+/u).filter(Boolean);
}

/** The vector that each word has: equal words share one, a new word takes the next. */
function numbered(words) {
  const known = new Map();
  return words.map((word) => {
    const same = word.normalize().toLowerCase();
    if (!known.has(same)) known.set(same, known.size);
    return known.get(same);
  });
}

/** Which word of a sentence stands at each place of the other order. */
function otherOrder({ order, shuffle }, ids) {
  const words = ids.map((_, at) => at);
  return matched(order === "reversed" ? words.toReversed() : shuffled(words, shuffle), ids);
}

/** The next number of a shuffle, one that leaves neither your order nor the one in sight if it can. */
export function nextShuffle({ order, shuffle }, { ids, orders }, most) {
  const known = orders.map((places) => read(places, ids));
  const step = order === "shuffled" ? 1 : 0;
  for (let at = step; at < most; at += 1) {
    const next = (shuffle + at) % most;
    if (!known.includes(read(otherOrder({ order: "shuffled", shuffle: next }, ids), ids))) return next;
  }
  return (shuffle + step) % most;
}

function read(places, ids) {
  return places.map((word) => ids[word]).join();
}

/** The same words in an order that follows from a number alone. */
function shuffled(words, seed) {
  const found = [...words];
  let state = Math.imul(seed + 1, 2654435761) >>> 0; // neighbours begin far apart
  for (let at = found.length - 1; at > 0; at -= 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (at + 1));
    [found[at], found[other]] = [found[other], found[at]];
  }
  return found;
}

/** Of words that are equal, the first one in the sentence counts as the first one in the other order. */
function matched(places, ids) {
  const queues = new Map();
  ids.forEach((id, word) => queues.set(id, [...(queues.get(id) ?? []), word]));
  return places.map((word) => queues.get(ids[word]).shift());
}

/** Attention among words, given by the numbers of their vectors. */
function attend(scene, ids, encoded) {
  const { answer, settings } = scene;
  const vectors = ids.map((id) => rowOf(answer.words, id));
  const { queries, keys, values } = encoded ? ENCODED[scene.recipe.family](scene, vectors) : plain(vectors);
  const scores = queries.map((query, at) =>
    keys.map((key, other) => {
      if (settings.mask === "on" && other > at) return -Infinity;
      return dot(query, key) * answer.scale + (encoded ? added(scene, ids, at, other) : 0);
    }),
  );
  const weights = scores.map(softmax);
  return { scores, weights, outputs: weights.map((shares) => mixed(shares, values)) };
}

function rowOf({ shape: [, width], ...array }, row) {
  return Float64Array.from(unpacked(array).subarray(row * width, (row + 1) * width));
}

const ENCODED = { absolute: summed, rotary: turnedEach, bias: (_, vectors) => plain(vectors), term: (_, vectors) => plain(vectors) };

function plain(vectors) {
  return { queries: vectors, keys: vectors, values: vectors };
}

function summed(scene, vectors) {
  return plain(vectors.map((vector, place) => sumAt(scene, vector, place)));
}

/** A vector and the code of a place. */
export function sumAt({ values, columns }, vector, place) {
  return vector.map((value, feature) => value + values[place * columns + feature]);
}

function turnedEach(scene, vectors) {
  const turn = (role) => vectors.map((vector, place) => Float64Array.from(turnedTo(scene, vector, place, role)));
  return { queries: turn("query"), keys: turn("key"), values: vectors };
}

/** What is added to the score of two places, with the words `ids` at them. */
export function added({ recipe, values, columns, answer }, ids, at, other) {
  if (recipe.family === "bias") return values[at * columns + other];
  if (recipe.family !== "term") return 0;
  const { query, key, reach } = answer;
  const away = reach + at - other;
  return rowOf(query, ids[at])[away] + rowOf(key, ids[other])[away];
}

function mixed(shares, values) {
  const result = new Float64Array(values[0].length);
  shares.forEach((share, at) => {
    for (let feature = 0; feature < result.length; feature += 1) result[feature] += share * values[at][feature];
  });
  return result;
}

/** The largest difference between what a word gets in one order and in the other, and where. */
export function residual([first, second], orders) {
  let found = { size: 0, word: 0, feature: 0 };
  orders[0].forEach((word, place) => {
    const difference = differenceOf([first, second], orders, word);
    if (difference.size > found.size) found = { ...difference, word };
  });
  return found;
}

/** The same for one word. */
export function differenceOf([first, second], orders, word) {
  const [one, other] = [first, second].map((found, at) => found.outputs[orders[at].indexOf(word)]);
  return one.reduce((most, value, feature) => {
    const size = Math.abs(value - other[feature]);
    return size > most.size ? { size, feature } : most;
  }, { size: 0, feature: 0 });
}

/** Whether a difference is only what sums in another order leave. */
export function isRounding({ size }) {
  return size < 1e-12;
}

/** The word that is chosen: the last one where the sentence has fewer. */
export function chosen({ settings }, { words }) {
  return Math.min(settings.word, words.length) - 1;
}

/** A word as the page shows it. */
export function shown(word) {
  const signs = [...word];
  return signs.length > LONGEST ? `${signs.slice(0, LONGEST).join("")}…` : word;
}

/** Words inside a sentence of the page; those that may run from right to left are kept apart. */
export function quoted(...words) {
  const apart = (word) => (/^[ -~…]*$/.test(word) ? word : `\u2068${word}\u2069`);
  return `“${words.map((word) => apart(shown(word))).join(" ")}”`;
}
