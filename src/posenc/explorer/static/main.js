// Joins settings, tables and pictures. A change of the form asks for what is needed anew, and all
// pictures are drawn from what is there, at most once a frame. The module of a room (rooms/) starts it.

import { given, keep, takeAlong } from "./address.js";
import { theme, watch } from "./appearance.js";
import { oneTable } from "./asking.js";
import { create as createForm } from "./form.js";
import { describe } from "./method.js";
import { answer, table } from "./source.js";
import { controlsOf, defaults, encoding, problem, read, settle, write } from "./state.js";
import { connect as connectTools } from "./tools.js";
import { spokenColumn, spokenRow } from "./words.js";

const page = JSON.parse(document.getElementById("page").textContent);
const notice = document.getElementById("notice");

let settings = defaults(page);
let held = null; // what is on the screen: settings, orders, and what they brought
let loading = null; // a promise while the next is on its way
let drawing = false; // a frame is asked for
let opened = false; // the settings were just read from an address

let room; // what its module gave to `start`
let form;
let pictures;
let begin;
const begun = new Promise((done) => {
  begin = done;
});

/**
 * Fills the page of a room: its `views` by name; what it asks for, as orders by name, where that is
 * more than one table; and of a scene the one that its sliders read out, where that is another.
 */
export function start({ views, asks = oneTable, spoken = (scene) => scene }) {
  room = { asks, spoken };
  form = createForm(document.getElementById("settings"), page, {
    settings: () => settings,
    extent,
    change,
    complain,
  });
  pictures = [...document.querySelectorAll("figure[data-view]")].map((figure) => ({
    figure,
    needs: figure.dataset.needs.split(" ").filter(Boolean),
    update: views[figure.dataset.view].create(figure, change, page),
  }));
  const reset = () => change(defaults(page, settings.encoding), { done: true });
  connectTools({ page, current, settled, remember, complain, reset });
  addEventListener("hashchange", open);
  watch(drawNow);
  open();
  begin();
}

/** The settings, and what is on the screen: the main table with its recipe, and the rest. */
export function current() {
  return { ...held?.got.main, ...held, settings };
}

/** Resolves when the pictures show the settings. */
export async function settled() {
  await begun;
  do {
    await loading;
    await new Promise(requestAnimationFrame);
  } while (loading || drawing);
}

function extent() {
  const { rows, columns, recipe } = held?.got.main ?? {};
  return { rows, columns, heads: recipe?.heads };
}

function change(changes, { done }) {
  const moved = changes.encoding ? { ...taken(changes.encoding), ...changes } : { ...settings, ...changes };
  // A window that moves takes its cursor along.
  if ("from" in changes && !("position" in changes)) moved.position += changes.from - settings.from;
  settings = settle(moved, page, changes.encoding ? {} : extent());
  complain("");
  show();
  if (done) remember();
  load();
}

/** Another encoding begins with its own fields; where one looks stays. */
function taken(kind) {
  const fresh = defaults(page, kind);
  for (const { name } of page.room.controls) fresh[name] = settings[name];
  return { ...fresh, hide: settings.hide, ask: settings.ask };
}

function show() {
  form.show(settings);
  describe(page.methods[settings.encoding], page.room);
  lead();
  draw();
}

/** Of the changes made while something is on its way, only the last asks for more. */
function load() {
  if (loading) return;
  const orders = room.asks(settings, encoding(settings, page), page);
  if (JSON.stringify(held?.orders) === JSON.stringify(orders)) return fit();
  loading = bring(orders).then((goOn) => {
    loading = null;
    show();
    if (goOn) load();
  });
}

async function bring(orders) {
  const asked = settings;
  try {
    const names = Object.keys(orders);
    const brought = await Promise.all(names.map((name) => one(orders[name])));
    held = { orders, asked, got: Object.fromEntries(names.map((name, at) => [name, brought[at]])) };
  } catch (error) {
    return giveBack(asked, error.message);
  }
  fit();
  return true;
}

function one(order) {
  return order.table ? table(order.table) : answer(page.room.name, order.answer);
}

/** Settings that point beyond the table that has come are moved to its edge. */
function fit() {
  const fitting = settle(settings, page, extent());
  const usual = defaults(page, settings.encoding);
  const asked = ({ name, bounds }) => opened && bounds && settings[name] !== usual[name];
  for (const control of controlsOf(page, settings).filter(asked)) {
    const wrong = problem(control, settings[control.name], settings, extent());
    if (wrong) complain([notice.textContent, `${wrong}.`].join(" ").trim());
  }
  opened = false;
  settings = fitting;
}

/** After a refusal the settings are again those of the picture that still stands there. */
function giveBack(asked, message) {
  const before = settings;
  const newer = before !== asked;
  if (!newer) settings = held?.asked ?? defaults(page);
  complain(message);
  remember();
  return newer || JSON.stringify(settings) !== JSON.stringify(before);
}

function complain(message) {
  notice.textContent = message;
}

/** The address follows the settings. Browsers refuse when asked too often; then it waits. */
function remember() {
  try {
    keep(write(settings, page));
  } catch {
    setTimeout(remember, 1000);
  }
}

/** Links to other rooms lead to the same encoding there. */
function lead() {
  const along = write(settings, page, { always: true });
  for (const link of document.querySelectorAll("nav a")) takeAlong(link, along);
}

function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(drawNow);
}

function drawNow() {
  drawing = false;
  if (!held) return;
  const scene = sceneOf(held);
  const { tags } = page.methods[held.asked.encoding];
  for (const { figure, needs, update } of pictures) {
    figure.hidden = !needs.every((need) => tags.includes(need));
    if (!figure.hidden) update(scene);
  }
  remark(scene.recipe ?? {});
  document.getElementById("text").textContent = scene.recipe?.text ?? "";
  form.name(scene);
  if (!scene.recipe || !("position" in settings)) return;
  const heard = room.spoken(scene);
  form.describe("position", spokenRow(heard));
  form.describe("column", spokenColumn(heard));
}

/** What one must know of the numbers in sight: where they come from, or what is wrong with them. */
function remark({ note = "", mistake = null }) {
  const wrong = mistake && `Mistake switched on: ${mistake.sentence} The cure: ${mistake.mend}`;
  document.getElementById("remark").textContent = [wrong, note].filter(Boolean).join(" ");
}

/** What the views draw from: the main table, and all that was brought, by name, in `got`. */
function sceneOf({ got, asked }) {
  const colours = page.colours[theme()];
  // Those of an address just opened can point beyond what is still in sight.
  const within = settle({ ...settings, encoding: asked.encoding }, page, extent());
  const common = { got, answer: got.answer, settings: within, colours };
  if (!got.main) return common;
  const { recipe, span, rows, columns } = got.main;
  const row = Math.min(Math.max(within.position - span.start, 0), rows - 1);
  const column = Math.min(within.column, columns - 1);
  return { ...common, ...got.main, row, column, axes: recipe.axes };
}

function open() {
  const place = document.getElementById(location.hash.slice(1));
  if (held && place) return;
  const { values, problems } = read(place ? "" : given(), page);
  settings = values;
  opened = true;
  complain(problems.length ? `Part of the link does not fit: ${problems.join("; ")}.` : "");
  load();
  show();
}
