// Joins settings, recipes and pictures. A change of the form asks for a new table where one is
// needed, and all pictures are drawn from the table that is there, at most once a frame.

import { theme, watch } from "./appearance.js";
import { connect } from "./controls.js";
import { libraryTable, picture } from "./source.js";
import { defaults, encoding, read, settle, write } from "./state.js";
import { spokenColumn, spokenRow, whole } from "./words.js";
import * as hands from "./views/hands.js";
import * as lines from "./views/lines.js";
import * as matrix from "./views/matrix.js";
import * as slopes from "./views/slopes.js";
import * as vector from "./views/vector.js";
import * as waves from "./views/waves.js";

const VIEWS = { hands, lines, matrix, slopes, vector, waves };

const page = JSON.parse(document.getElementById("page").textContent);
const { kind, controls, axes } = page;
const notice = document.getElementById("notice");

let settings = defaults(controls);
let held = null; // the picture on the screen: encoding, recipe, span, and the table
let loading = null; // a promise while the next one is on its way
let drawing = false; // a frame is asked for

const form = connect(document.getElementById("settings"), controls, {
  settings: () => settings,
  change,
  complain,
});
const pictures = [...document.querySelectorAll("figure[data-view]")].map((figure) =>
  VIEWS[figure.dataset.view].create(figure, change),
);

/** The settings, and the table on the screen with the recipe it was made from. */
export function current() {
  return { ...held, settings };
}

/** Resolves when the pictures show the settings. */
export async function settled() {
  do {
    await loading;
    await new Promise(requestAnimationFrame);
  } while (loading || drawing);
}

function change(changes, { done }) {
  const { control: row } = axes.row;
  const moved = { ...settings, ...changes };
  // A window that moves takes its cursor along.
  if ("start" in changes && !(row in changes)) moved[row] += changes.start - settings.start;
  settings = settle(moved, controls);
  complain("");
  form.show(settings);
  if (done) remember();
  draw();
  load();
}

/** Of the changes made while a picture is on its way, only the last asks for another. */
function load() {
  if (loading || shows(wanted())) return;
  loading = fetchPicture(wanted()).then((goOn) => {
    loading = null;
    draw();
    if (goOn) load();
  });
}

function wanted() {
  const { start = 0, count, head = 0 } = settings;
  return { encoding: encoding(kind, settings, controls), span: { start, count, head } };
}

function shows(asked) {
  if (!held) return false;
  const shown = { encoding: held.encoding, span: held.span };
  return JSON.stringify(shown) === JSON.stringify(asked);
}

async function fetchPicture({ encoding: asked, span }) {
  try {
    held = { encoding: asked, ...(await picture(asked, span)) };
    return true;
  } catch (error) {
    return giveBack(asked, error.message);
  }
}

/** After a refusal the settings are again those of the picture that still stands there. */
function giveBack(asked, message) {
  const good = held?.encoding ?? encoding(kind, defaults(controls), controls);
  const refused = Object.keys(good).filter((name) => asked[name] !== good[name]);
  for (const name of refused) settings[name] = good[name];
  settings = settle(settings, controls);
  complain(message);
  form.show(settings);
  remember();
  return refused.length > 0;
}

function complain(message) {
  notice.textContent = message;
}

/** The address follows the settings. Browsers refuse when asked too often; then it waits. */
function remember() {
  try {
    history.replaceState(null, "", write(settings, controls) || location.pathname);
  } catch {
    setTimeout(remember, 1000);
  }
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
  for (const update of pictures) update(scene);
  document.getElementById("text").textContent = scene.recipe.text;
  form.describe(axes.row.control, spokenRow(scene));
  form.describe(axes.column.control, spokenColumn(scene));
}

/** What the views draw from. */
function sceneOf({ recipe, span, values, rows, columns, lowest }) {
  const row = Math.min(Math.max(settings[axes.row.control] - span.start, 0), rows - 1);
  const column = Math.min(settings[axes.column.control], columns - 1);
  const colours = page.colours[theme()];
  return { recipe, span, values, rows, columns, lowest, row, column, settings, axes, colours };
}

function open() {
  const place = document.getElementById(location.hash.slice(1));
  if (held && place) return;
  const { values, problems } = read(place ? "" : location.hash, controls);
  settings = values;
  complain(problems.length ? `Part of the link does not fit: ${problems.join("; ")}.` : "");
  form.show(settings);
  draw();
  load();
}

async function copyLink() {
  remember();
  try {
    await navigator.clipboard.writeText(location.href);
    complain("The link is in the clipboard.");
  } catch {
    complain(`The link: ${location.href}`);
  }
}

async function check() {
  await settled();
  try {
    const own = new Uint32Array((await libraryTable(held.encoding, held.span)).buffer);
    const bits = new Uint32Array(held.values.buffer);
    const differ = bits.filter((value, at) => value !== own[at]).length;
    const verdict = differ ? `${whole(differ)} differ` : "all are equal";
    complain(`${whole(bits.length)} numbers compared with the library's, bit by bit: ${verdict}.`);
  } catch (error) {
    complain(error.message);
  }
}

document.getElementById("copy").onclick = copyLink;
document.getElementById("check").onclick = check;
document.getElementById("reset").onclick = () => change(defaults(controls), { done: true });
addEventListener("hashchange", open);
watch(drawNow);
open();
