// Several encodings at once: which of them, and what is asked of the library for each.

import { gram } from "./kernel.js";

/** The kinds that are compared, in the order of the page; the one in the form is always there. */
export function chosen({ kinds, encoding }, page) {
  const wanted = new Set([...kinds.split(","), encoding]);
  return page.room.encodings.filter((kind) => wanted.has(kind));
}

/** Names among the chosen kinds that this room does not know. */
export function unknown({ kinds }, page) {
  return kinds.split(",").filter((kind) => kind && !page.room.encodings.includes(kind));
}

/**
 * Orders by name: "main" is the table of the encoding in the form; the tables and boards of the
 * others, with their first fields, are "table-KIND" and "board-KIND".
 */
export function orders(settings, main, page) {
  const { trained, encoding } = settings;
  const { default: head } = page.room.controls.find(({ name }) => name === "head");
  const found = { main: { table: main } };
  for (const kind of chosen(settings, page)) {
    const own = kind === encoding;
    const { count, grid } = main;
    const spec = own ? main.spec : page.methods[kind].data;
    found[`table-${kind}`] = { table: own ? main : { spec, start: 0, count, head, grid } };
    found[`board-${kind}`] = { answer: { spec, trained } };
  }
  return found;
}

const known = new WeakMap(); // by values of a table: its scores

/** A table as what positions make of the score of every query with every key. */
export function scores(table) {
  const { recipe, values, rows, columns } = table;
  if (["bias", "term"].includes(recipe.family)) return table;
  if (!known.has(values)) known.set(values, measured({ recipe, values: gram(values, rows, columns), rows, columns: rows }));
  return known.get(values);
}

/** What the sliders read out: the score of the encoding in the form, where scores are drawn. */
export function heard(scene) {
  const { settings, recipe } = scene;
  if (settings.drawn_as !== "scores") return scene;
  const { values, rows, columns } = scores(scene);
  const axes = { row: { name: "query" }, column: { name: "key" } };
  const column = Math.min(settings.column, columns - 1);
  return { ...scene, recipe: { ...recipe, columns: [] }, axes, values, rows, columns, column };
}

function measured(table) {
  const seen = table.values.filter(Number.isFinite);
  const [lowest, highest] = [Math.min, Math.max].map((most) => seen.reduce((one, other) => most(one, other)));
  return { ...table, lowest, highest };
}
