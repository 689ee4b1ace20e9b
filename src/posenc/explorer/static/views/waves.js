// Some columns against position, one strip each: waves side by side would only tangle.

import { dots, html, line, plot, set, svg } from "../dom.js";
import { wave, wavelength } from "../kernel.js";
import { amount, content, decimal, place } from "../words.js";

const SAMPLES = 1024; // of a curve; at least ten for each turn of the fastest pair
const CLEAR = 96; // positions that can have a dot each
const FEW = 6; // columns of a first look

export function create(figure, change) {
  const chips = html("fieldset", { class: "chips" });
  const list = html("ol", { class: "tracks" });
  figure.querySelector(".drawing").append(chips, list);
  let drawn = [];
  let tracks = [];

  return (scene) => {
    const chosen = scene.settings.waves ?? picksOf(scene);
    const columns = sorted([...chosen.filter((c) => c < scene.columns), scene.column]);
    const state = JSON.stringify([columns, chosen]);
    if (state !== drawn[0] || scene.values !== drawn[1]) {
      drawn = [state, scene.values];
      tracks = columns.map((column) => track(scene, column));
      list.replaceChildren(...tracks.map(({ item }) => item));
      choices(chips, scene, chosen, change);
    }
    for (const update of tracks) update.move(scene);
    figure.querySelector("figcaption").textContent = twin(scene, columns);
  };
}

/** One strip: its name, its curve with a dot at each whole position, and the cursor's value. */
function track(scene, column) {
  const { recipe, axes, rows, columns, values } = scene;
  const at = (row) => values[row * columns + column];
  const dense = rows > CLEAR;
  const spots = Array.from({ length: dense ? 0 : rows }, (_, row) => [row, -at(row)]);
  const cursor = svg("path", { class: "cursor" });
  const dot = svg("path", { class: "dot" });
  const value = html("span", { class: "value" });
  const reach = 1.15 * (Math.max(-scene.lowest, scene.highest) || 1);
  const box = [-0.5, -reach, rows, 2 * reach];
  const still = plot(
    box,
    svg("path", { class: "axis", d: `M-0.5 0H${rows - 0.5}` }),
    svg("path", { class: dense ? "curve fine" : "curve", d: line(curve(scene, column)) }),
    svg("path", { class: "points", d: dots(spots) }),
  );
  const drawing = html("div", { class: "strip" }, still, plot(box, cursor, dot));
  const name = html("span", { class: "name" }, place(axes.column, column));
  const turn = wavelength(recipe, column);
  const words = [content(recipe, column), turn && `one turn in ${amount(turn)} positions`];
  const detail = html("span", { class: "detail" }, words.filter(Boolean).join(", "));
  const item = html("li", {}, html("p", {}, name, " ", detail, value), drawing);
  return {
    item,
    move({ row, column: current }) {
      const y = at(row);
      set(cursor, { d: `M${row} ${-reach}V${reach}` });
      set(dot, { d: dots([[row, -y]]) });
      set(item, { class: column === current ? "current" : "" });
      value.textContent = decimal(y);
    },
  };
}

/** Between the places too where the recipe is a closed form; else from place to place. */
function curve({ recipe, span, rows, columns, values }, column) {
  if (recipe.kind !== "waves") {
    return Array.from({ length: rows }, (_, row) => [row, -values[row * columns + column]]);
  }
  const last = Math.max(rows - 1, 1);
  const steps = Math.min(SAMPLES, 8 * last);
  return Array.from({ length: steps + 1 }, (_, step) => {
    const x = (last * step) / steps;
    return [x, -wave(recipe, column, span.start + x)];
  });
}

/** Columns worth a first look: those that the recipe names, else some across the table. */
function picksOf({ recipe, columns }) {
  const some = Array.from({ length: Math.min(columns, FEW) }, (_, at) => at);
  if (recipe.picks?.length) return recipe.picks;
  return some.map((at) => Math.floor((at * columns) / some.length));
}

/** A switch for each column worth following, and for those chosen already. */
function choices(chips, scene, chosen, change) {
  const { columns, axes } = scene;
  const offered = sorted([...picksOf(scene), ...chosen.filter((c) => c < columns)]);
  const focused = document.activeElement?.value;
  const buttons = offered.map((column) => {
    const name = place(axes.column, column);
    const pressed = chosen.includes(column);
    const attributes = { type: "button", value: column, "aria-label": name, "aria-pressed": pressed };
    const button = html("button", attributes, String(column));
    button.onclick = () => {
      const kept = chosen.filter((c) => c !== column);
      change({ waves: pressed ? kept : sorted([...kept, column]) }, { done: true });
    };
    return button;
  });
  const inside = chips.contains(document.activeElement);
  chips.replaceChildren(html("legend", {}, "Shown, besides the one under the cursor"), ...buttons);
  if (inside) chips.querySelector(`button[value="${focused}"]`)?.focus();
}

function twin({ recipe, axes, span, row, values, columns: width }, columns) {
  const at = (column) => decimal(values[row * width + column]);
  const parts = columns.map((column) => `${place(axes.column, column)} is ${at(column)}`);
  const here = `At ${place(axes.row, span.start + row)}, ${parts.join(", ")}.`;
  const lengths = columns.map((column) => wavelength(recipe, column)).filter(Boolean);
  if (!lengths.length) return here;
  return (
    `${here} The fastest of these waves turns once in ${amount(Math.min(...lengths))} positions, ` +
    `the slowest once in ${amount(Math.max(...lengths))}.`
  );
}

function sorted(columns) {
  return [...new Set(columns)].sort((one, other) => one - other);
}
