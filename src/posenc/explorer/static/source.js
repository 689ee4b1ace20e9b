// Where numbers come from: recipes and answers from the library, tables from the worker.

import { ask } from "./library.js";

const KEPT = 64; // answers of the library that are not asked for twice
const UNMADE = "This browser could not make the table.";
const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const waiting = new Map(); // by number of the order: what to do with the worker's table
const answers = new Map(); // by address: promises
const depends = new Map(); // by spec and mistake: what else its recipe depends on
let orders = 0;
let broken = false; // the worker never started

worker.onmessage = ({ data: { order, made } }) => {
  waiting.get(order).done(made);
  waiting.delete(order);
};
worker.onerror = (event) => {
  broken ||= !(event instanceof ErrorEvent);
  for (const { failed } of waiting.values()) failed(new Error(UNMADE));
  waiting.clear();
};

/**
 * A table: { recipe, span, values, rows, columns, lowest, highest }. An order names the encoding as
 * `spec`, the span as `start`, `count`, `head` and `grid`, and possibly a `mistake`.
 */
export async function table({ spec, mistake = "", ...span }) {
  const same = JSON.stringify([spec, mistake]);
  const query = { spec: JSON.stringify(spec), ...(mistake && { mistake }) };
  const asked = depends.has(same) ? picked(span, depends.get(same)) : span;
  const recipe = await get("/data/recipe", { ...query, ...asked });
  depends.set(same, recipe.depends);
  refuseBeyond(recipe, span);
  const shown = { ...span, ...recipe.held }; // a saved copy holds one part of an array
  return { recipe, span: shown, ...cut(await evaluated(recipe, shown), recipe, span) };
}

/** A query can stand as many positions ahead of the last key as there are keys. */
function refuseBeyond({ drawable }, { start, count }) {
  if (!drawable) return;
  const [first, last, says] = drawable;
  if (start < first || start + 2 * count - 1 > last) throw new Error(says);
}

/** Fewer rows where a saved copy has more of them than were asked for; what turns has a row a place. */
function cut(made, { held, partners }, { count }) {
  if (!held || !partners || made.rows <= count) return made;
  return { ...made, rows: count, values: made.values.slice(0, count * made.columns) };
}

function picked(span, names) {
  return Object.fromEntries(names.map((name) => [name, span[name]]));
}

async function evaluated(recipe, span) {
  if (broken) throw new Error(UNMADE);
  orders += 1;
  worker.postMessage({ order: orders, recipe, span });
  return new Promise((done, failed) => waiting.set(orders, { done, failed }));
}

/** What the library answers in a room, about an encoding (`spec`) and settings of the room. */
export function answer(room, { spec, ...settings }) {
  return get(`/data/answer/${room}`, { spec: JSON.stringify(spec), ...settings });
}

/** The same table as the library itself makes it. */
export async function libraryTable({ spec, mistake = "", ...span }) {
  const query = { spec: JSON.stringify(spec), ...(mistake && { mistake }), ...span };
  return new Float32Array(await (await ask("/data/table", query)).arrayBuffer());
}

function get(path, query) {
  const address = `${path}?${new URLSearchParams(query)}`;
  const known = answers.get(address);
  answers.delete(address); // and to the end of the queue
  const found = known ?? ask(path, query).then((reply) => reply.json());
  answers.set(address, found);
  found.catch(() => answers.delete(address));
  if (answers.size > KEPT) answers.delete(answers.keys().next().value);
  return found;
}
