import { tableOf } from "../asking.js";
import { start } from "../main.js";
import { controlsOf, encoding } from "../state.js";
import * as hands from "../views/hands.js";
import * as mixed from "../views/mixed.js";
import * as shares from "../views/shares.js";
import * as shifts from "../views/shifts.js";
import * as threads from "../views/threads.js";
import * as value from "../views/value.js";

start({ views: { hands, mixed, shares, shifts, threads, value }, asks: turnedFurther });

/** The table far enough for a query beyond every key, and the same encoding in another pairing. */
function turnedFurther(settings, spec, page) {
  const main = within(tableOf(settings, spec, page), settings, page);
  const orders = { main: { table: main }, far: { table: { ...main, count: 2 * main.count } } };
  const pairing = controlsOf(page, settings).find(({ name }) => name === "layout");
  if (!pairing) return orders;
  const { options } = pairing;
  const at = options.findIndex(({ value }) => value === settings.layout);
  const layout = options[(at + 1) % options.length].value;
  const { mistake, ...right } = main;
  return { ...orders, other: { table: { ...right, spec: encoding({ ...settings, layout }, page) } } };
}

/** In a saved copy an array has so many rows and no more: half of them, so that the query has the rest. */
function within(table, { encoding: kind, mistake }, page) {
  const { right, wrong } = page.methods[kind].held ?? {};
  const rows = mistake ? wrong : right;
  return rows ? { ...table, count: Math.floor(rows / 2) } : table;
}
