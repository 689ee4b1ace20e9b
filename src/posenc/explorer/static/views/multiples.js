// Encodings side by side: a small picture each, and under it the numbers of the row that is marked.

import { chosen, scores, unknown } from "../comparing.js";
import { html, line, plot, set, svg } from "../dom.js";
import { paint, pixel } from "../pixels.js";
import { decimal, tick, whole } from "../words.js";

const roomy = matchMedia("(min-width: 56rem)");
const MASKED = 0; // a pixel that lets the hatching through

export function create(figure, change, page) {
  const chips = html("details", { class: "choose" });
  chips.open = roomy.matches;
  const list = html("ol", { class: "multiples-list" });
  figure.querySelector(".drawing").append(chips, list);
  figure.querySelector("figcaption").textContent = "Computing.";
  const cards = new Map(); // by kind
  chips.append(html("summary", {}, "Choose encodings"), ...groupsOf(page, change));

  return (scene) => {
    const { settings } = scene;
    const kinds = chosen(settings, page);
    chips.hidden = settings.hide?.includes("kinds") ?? false;
    showChips(chips, settings, kinds);
    for (const kind of kinds) if (!cards.has(kind)) cards.set(kind, card(page.methods[kind], change));
    const items = kinds.map((kind) => cards.get(kind).item);
    if (items.some((item, at) => item !== list.children[at]) || items.length !== list.children.length) {
      list.replaceChildren(...items);
    }
    const shown = kinds.map((kind) => cards.get(kind).show(scene, scene.got[`table-${kind}`], kind));
    figure.querySelector("figcaption").textContent = twin(scene, shown.filter(Boolean), unknown(settings, page));
  };
}

/** Buttons of all encodings, by what they do to a Transformer. */
function groupsOf(page, change) {
  const steps = Map.groupBy(page.room.encodings, (kind) => page.methods[kind].steps.find(({ acts }) => acts).name);
  return [...steps].map(([step, kinds]) =>
    html("fieldset", { class: "chips" }, html("legend", {}, `Acts on ${step}`), ...kinds.map((kind) => {
      const button = html("button", { type: "button", "data-kind": kind }, page.methods[kind].name);
      button.onclick = () => change({ kinds: toggled(button.dataset.kinds, kind) }, { done: true });
      return button;
    })),
  );
}

function toggled(kinds, kind) {
  const list = kinds.split(",").filter(Boolean);
  return (list.includes(kind) ? list.filter((each) => each !== kind) : [...list, kind]).join(",");
}

function showChips(chips, { kinds, encoding }, shown) {
  for (const button of chips.querySelectorAll("button")) {
    const { kind } = button.dataset;
    button.dataset.kinds = kinds;
    button.setAttribute("aria-pressed", shown.includes(kind));
    button.disabled = kind === encoding; // what the form changes is always in sight
  }
}

/** One encoding: `show` draws it and returns what the text says of it. */
function card({ name, kind }, change) {
  const canvas = html("canvas", { "aria-hidden": "true" });
  const [across, along] = [html("div", { class: "across" }), html("div", { class: "along" })];
  const sheet = html("div", { class: "sheet" }, canvas, across, along);
  const curve = svg("path", { class: "curve" });
  const [axis, cursor] = [svg("path", { class: "axis" }), svg("path", { class: "cursor" })];
  const drawing = plot([0, 0, 1, 1], axis, cursor, curve);
  const title = html("h3", {}, name);
  const edit = html("button", { type: "button", "aria-label": `Change the fields of ${name}` }, "change");
  edit.onclick = () => change({ encoding: kind }, { done: true });
  // Plain paragraphs: an output would be read aloud in every card whenever the cursor moves.
  const [value, note] = ["value", "hint"].map((name) => html("p", { class: name }));
  const item = html("li", {}, html("header", {}, title, edit), sheet, drawing, value, note);
  let painted = [];
  sheet.onpointerdown = (event) => {
    const box = canvas.getBoundingClientRect();
    const place = (part, count) => Math.min(Math.max(Math.floor(part * count), 0), count - 1);
    const row = place((event.clientY - box.top) / box.height, canvas.height);
    const column = place((event.clientX - box.left) / box.width, canvas.width);
    change({ position: row, column }, { done: true });
  };

  function show(scene, table) {
    set(item, { class: kind === scene.settings.encoding ? "current" : "" });
    edit.hidden = kind === scene.settings.encoding || (scene.settings.hide?.includes("encoding") ?? false);
    if (!table) {
      note.textContent = "Computing.";
      return null;
    }
    const drawn = scene.settings.drawn_as === "scores" ? scores(table) : table;
    const { values, rows, columns } = drawn;
    const largest = Math.max(-drawn.lowest, drawn.highest) || 1;
    if (painted[0] !== values || painted[1] !== scene.colours) {
      painted = [values, scene.colours];
      paint(canvas, coloured(drawn, largest, scene.colours), columns);
    }
    const row = Math.min(scene.settings.position, rows - 1);
    const column = Math.min(scene.settings.column, columns - 1);
    Object.assign(across.style, { height: `${100 / rows}%`, translate: `0 ${100 * row}%` });
    Object.assign(along.style, { width: `${100 / columns}%`, translate: `${100 * column}%` });
    trace({ drawing, axis, cursor, curve }, drawn, row, column, largest);
    const found = values[row * columns + column];
    value.textContent = decimal(found);
    note.textContent = words(table, drawn);
    return { name, found, row, column };
  }
  return { item, show };
}

/** The row that is marked, as a curve; what is masked is left out. */
function trace({ drawing, axis, cursor, curve }, { values, columns }, row, column, largest) {
  const parts = [[]];
  for (let at = 0; at < columns; at += 1) {
    const height = values[row * columns + at];
    if (Number.isFinite(height)) parts.at(-1).push([at, -height]);
    else if (parts.at(-1).length) parts.push([]);
  }
  set(drawing, { viewBox: `-0.5 ${-1.05 * largest} ${columns} ${2.1 * largest}` });
  set(axis, { d: `M-0.5 0H${columns - 0.5}` });
  set(cursor, { d: `M${column} ${-1.05 * largest}V${1.05 * largest}` });
  set(curve, { d: parts.map(line).join("") });
}

/** What the picture shows: how much of it, and from which number to which. */
function words({ recipe, span }, { rows, columns, lowest, highest }) {
  const head = recipe.heads > 1 ? `head ${span.head}, ` : "";
  return `${head}${whole(rows)} × ${whole(columns)}, ${tick(lowest)} to ${tick(highest)}`;
}

/** Colours of all numbers; what is masked lets the hatching through. */
function coloured({ values }, largest, colours) {
  const lookup = Uint32Array.from(colours, pixel);
  const zero = (colours.length - 1) / 2;
  return Uint32Array.from(values, (value) =>
    value === -Infinity ? MASKED : lookup[Math.round((value * zero) / largest) + zero],
  );
}

function twin({ settings }, shown, unfamiliar) {
  const { position, column } = settings;
  const missing = unfamiliar.length ? `No encoding is called ${unfamiliar.map((name) => `“${name}”`).join(", ")}. ` : "";
  const what = settings.drawn_as === "scores"
    ? `What place ${whole(position)} as the query and place ${whole(column)} as the key make of a score`
    : `The number in row ${whole(position)} and column ${whole(column)}`;
  const edge = shown.some(({ row, column: at }) => row !== position || at !== column)
    ? " Where a picture ends before that, it is the number at its edge."
    : "";
  return `${missing}${what}: ${shown.map(({ name, found }) => `${name} ${decimal(found)}`).join("; ")}.${edge}`;
}
