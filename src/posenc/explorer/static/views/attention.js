// Four squares: scores or attention among the words, in both orders, without positions and with them.

import { html } from "../dom.js";
import { chosen, quoted, shown, toy } from "../order.js";
import { decimal } from "../words.js";
import { percent } from "./scores.js";

const HALVES = { without: "Without positions", with: "With the encoding" };
const ORDERS = ["Your order", "The other order"];
const FEW = 6; // words whose numbers are all said
const FIT = 10; // words that fit beside the squares

export function create(figure) {
  const squares = Object.keys(HALVES).flatMap((half) => ORDERS.map((order, at) => ({ half, at, ...square(order) })));
  const halves = Object.entries(HALVES).map(([name, title]) => {
    const own = squares.filter(({ half }) => half === name).map(({ element }) => element);
    return html("div", { class: "half" }, html("h3", {}, title), ...own);
  });
  figure.querySelector(".drawing").append(...halves);

  return (scene) => {
    const found = toy(scene);
    const kind = scene.settings.squares === "scores" ? "scores" : "weights";
    const runs = Object.keys(HALVES).flatMap((half) => found[half] ?? []);
    const seen = runs.flatMap((run) => run[kind]).flat().filter(Number.isFinite);
    const most = Math.max(...seen.map(Math.abs), 0) || 1;
    for (const { half, at, update } of squares) update(scene, found, found[half]?.[at][kind], at, most);
    figure.querySelector("figcaption").textContent = twin(scene, found, kind, most);
  };
}

function square(order) {
  const canvas = html("canvas", { "aria-hidden": "true" });
  const [side, top] = [html("p", { class: "down" }), html("p", { class: "over" })];
  const marker = html("div", { class: "across" });
  const sheet = html("div", { class: "sheet" }, canvas, marker);
  const frame = html("div", { class: "square", "aria-hidden": "true" }, top, side, sheet);
  return {
    element: html("div", {}, html("p", { class: "detail" }, order), frame),
    update(scene, found, rows, at, most) {
      frame.hidden = !rows?.length;
      if (frame.hidden) return;
      const places = found.orders[at];
      const words = places.map((word) => shown(found.words[word]));
      for (const list of [side, top]) list.replaceChildren(...words.map((word) => html("bdi", {}, word)));
      frame.classList.toggle("many", words.length > FIT);
      paint(canvas, rows, scene.colours, most);
      const here = places.indexOf(chosen(scene, found));
      Object.assign(marker.style, { height: `${100 / words.length}%`, translate: `0 ${100 * here}%` });
    },
  };
}

/** One pixel a cell; what is masked stays open. */
function paint(canvas, rows, colours, most) {
  const middle = (colours.length - 1) / 2;
  Object.assign(canvas, { width: rows.length, height: rows.length });
  const pen = canvas.getContext("2d");
  rows.forEach((row, at) => row.forEach((value, other) => {
    if (value === -Infinity) return;
    pen.fillStyle = colours[middle + Math.round((value / most) * middle)];
    pen.fillRect(other, at, 1, 1);
  }));
}

function twin(scene, found, kind, most) {
  const { words, orders } = found;
  if (!words.length) return "There is no word yet.";
  const word = chosen(scene, found);
  const halves = Object.keys(HALVES).filter((half) => found[half]).map((half) => {
    const told = orders.map((places, at) => {
      const row = found[half][at][kind][places.indexOf(word)];
      const each = row.map((value, other) => ({ value, word: quoted(words[places[other]]) }));
      const loudest = each.toSorted((one, other) => other.value - one.value).slice(0, FEW);
      const named = words.length > FEW ? loudest : each;
      return `in ${ORDERS[at].toLowerCase()} ${named.map((one) => `${one.word} ${number(one.value, kind)}`).join(", ")}`;
    });
    return `${HALVES[half]}, ${told.join("; ")}.`;
  });
  const lead = kind === "weights" ? "The attention of" : "The scores of";
  const largest = words.length > FEW ? `, the ${FEW} largest` : "";
  const deepest = `The deepest colour is ${number(most, kind)}.`;
  return `${lead} ${quoted(words[word])}${largest}: ${halves.join(" ")} ${deepest}`;
}

function number(value, kind) {
  return kind === "weights" ? percent(value) : decimal(value);
}
