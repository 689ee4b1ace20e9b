// What each room draws, and what it has to ask for before it can.

import * as alikes from "./views/alikes.js";
import * as astray from "./views/astray.js";
import * as attention from "./views/attention.js";
import * as board from "./views/board.js";
import * as catalogue from "./views/catalogue.js";
import * as clocks from "./views/clocks.js";
import * as cut from "./views/cut.js";
import * as difference from "./views/difference.js";
import * as errors from "./views/errors.js";
import * as facts from "./views/facts.js";
import * as far from "./views/far.js";
import * as given from "./views/given.js";
import * as gram from "./views/gram.js";
import * as handed from "./views/handed.js";
import * as hands from "./views/hands.js";
import * as holds from "./views/holds.js";
import * as likeness from "./views/likeness.js";
import * as lines from "./views/lines.js";
import * as made from "./views/made.js";
import * as lost from "./views/lost.js";
import * as matrix from "./views/matrix.js";
import * as mixed from "./views/mixed.js";
import * as multiples from "./views/multiples.js";
import * as named from "./views/named.js";
import * as odometer from "./views/odometer.js";
import * as outputs from "./views/outputs.js";
import * as reach from "./views/reach.js";
import * as reading from "./views/reading.js";
import * as riddle from "./views/riddle.js";
import * as right from "./views/right.js";
import * as ruler from "./views/ruler.js";
import * as rules from "./views/rules.js";
import * as scores from "./views/scores.js";
import * as sentence from "./views/sentence.js";
import * as shares from "./views/shares.js";
import * as shifts from "./views/shifts.js";
import * as slopes from "./views/slopes.js";
import * as stairs from "./views/stairs.js";
import * as stretched from "./views/stretched.js";
import * as symptom from "./views/symptom.js";
import * as threads from "./views/threads.js";
import * as training from "./views/training.js";
import * as turns from "./views/turns.js";
import * as value from "./views/value.js";
import * as vector from "./views/vector.js";
import * as waves from "./views/waves.js";
import * as wrong from "./views/wrong.js";
import * as comparing from "./comparing.js";
import { mistakenOrders } from "./mistaken.js";
import * as narrowed from "./narrowed.js";
import { encoding } from "./state.js";

export const VIEWS = {
  alikes, astray, attention, board, catalogue, clocks, cut, difference, errors, facts, far, given, gram,
  handed, hands, holds, likeness, lines, lost, made, matrix, mixed, multiples, named, odometer,
  outputs, reach, reading, riddle, right, ruler, rules, scores, sentence, shares, shifts, slopes,
  stairs, stretched, symptom, threads, training, turns, value, vector, waves, wrong,
};

// What a room has of its own: asks(settings, spec, page) gives orders by name where it needs more
// than one table; spoken(scene) the scene that its sliders read out, where that is another table.
const ROOMS = {
  bugs: { asks: (settings, spec, page) => mistakenOrders(tableOf(settings, spec, page), settings) },
  bias: { asks: unmasked },
  fingerprint: { asks: withExample },
  order: { asks: everyWord },
  compare: {
    asks: (settings, spec, page) => comparing.orders(settings, tableOf(settings, spec, page), page),
    spoken: comparing.heard,
  },
  precision: { asks: fromPosition, spoken: narrowed.heard },
  rotation: { asks: turnedFurther },
  similarity: { spoken: gram.compared },
  table: { asks: withPinned },
};

/** The table, and that of the settings which were pinned. */
function withPinned(settings, spec, page) {
  const orders = oneTable(settings, spec, page);
  if (!settings.pin) return orders;
  return { ...orders, pinned: { table: { ...orders.main.table, ...pinned(settings.pin) } } };
}

/** What is pinned: the encoding, and the mistake if there is one. */
function pinned(text) {
  try {
    const { mistake = "", ...spec } = JSON.parse(text);
    return { spec, mistake };
  } catch {
    return { spec: text }; // the library says what is wrong with it
  }
}

/** The table from the position on, and what formats leave of the encoding. */
function fromPosition(settings, spec, page) {
  const { position: from } = settings;
  const table = tableOf({ ...settings, from, count: 16, mistake: "" }, spec, page);
  return { main: { table }, answer: { answer: { spec } } };
}

/** The table far enough for a query beyond every key, and the same encoding in another pairing. */
function turnedFurther(settings, spec, page) {
  const main = tableOf(settings, spec, page);
  const orders = { main: { table: main }, far: { table: { ...main, count: 2 * main.count } } };
  const pairing = page.methods[settings.encoding].controls.find(({ name }) => name === "layout");
  if (!pairing) return orders;
  const { options } = pairing;
  const at = options.findIndex(({ value }) => value === settings.layout);
  const layout = options[(at + 1) % options.length].value;
  const { mistake, ...right } = main;
  return { ...orders, other: { table: { ...right, spec: encoding({ ...settings, layout }, page) } } };
}

/** Beside the table, where there is no mask, that of an encoding that hides no keys by itself. */
function unmasked(settings, spec, page) {
  const orders = oneTable(settings, spec, page);
  const { options } = page.room.controls.find(({ name }) => name === "mask");
  const { instead } = options.find(({ value }) => value === settings.mask);
  if (!instead || settings.mistake) return orders;
  const opened = { ...settings };
  for (const [name, values] of Object.entries(instead)) opened[name] = values[settings[name]] ?? settings[name];
  return { ...orders, open: { table: { ...orders.main.table, spec: encoding(opened, page) } } };
}

/** The table and the words, whatever the sentence: as many places as there are words at most. */
function everyWord(settings, spec, page) {
  const { max } = page.room.controls.find(({ name }) => name === "word");
  return oneTable({ ...settings, count: max }, spec, page);
}

/** The table of the settings, and the example to name if one is chosen. */
function withExample(settings, spec, page) {
  const { main, answer } = oneTable(settings, spec, page);
  return settings.example ? { main, answer } : { main };
}

/** The orders of a room, by name: { table: {...} } or { answer: {...} } each. */
export function asks(settings, spec, page) {
  const { name } = page.room;
  return (ROOMS[name]?.asks ?? oneTable)(settings, spec, page);
}

/** The scene that the sliders of a room read out. */
export function spoken(scene, page) {
  return ROOMS[page.room.name]?.spoken?.(scene) ?? scene;
}

/** The order of a room that shows one table, and of its answer where it has one. */
export function oneTable(settings, spec, page) {
  const orders = { main: { table: tableOf(settings, spec, page) } };
  if (page.room.answers) orders.answer = { answer: answerOf(settings, spec, page) };
  return orders;
}

/** The table that the settings describe. */
export function tableOf(settings, spec, page) {
  const { mistake } = settings;
  return { spec, ...(mistake && { mistake }), ...spanOf(settings, page) };
}

/** The part of the table that is in sight. */
export function spanOf({ encoding, from = 0, count = 64, head = 0, cells: grid = 8 }, page) {
  const { tags } = page.methods[encoding];
  return { start: tags.includes("line") ? from : 0, count, head, grid };
}

/** The encoding, and the settings that the room's answer depends on. */
export function answerOf(settings, spec, page) {
  return { spec, ...Object.fromEntries(page.room.asks.map((name) => [name, settings[name] ?? ""])) };
}
