// What the chosen word gets in both orders: without positions, and with them.

import { html, plot, set, svg } from "../dom.js";
import { chosen, differenceOf, isRounding, quoted, toy } from "../order.js";
import { decimal, tick, whole } from "../words.js";
import { bars } from "./made.js";

const HALVES = { without: "Without positions", with: "With the encoding" };

export function create(figure) {
  const halves = Object.fromEntries(Object.entries(HALVES).map(([name, title]) => [name, half(title)]));
  const names = html("p", { class: "names", "aria-hidden": "true" });
  names.append(html("span", { class: "bars" }, "in your order"), html("span", { class: "other" }, "in the other order"));
  figure.querySelector(".drawing").append(...Object.values(halves).map(({ element }) => element), names);

  return (scene) => {
    const found = toy(scene);
    const word = chosen(scene, found);
    const runs = Object.fromEntries(Object.keys(HALVES).map((name) => [name, outputsOf(found, name, word)]));
    for (const name of Object.keys(HALVES)) halves[name].update(runs[name]);
    figure.querySelector("figcaption").textContent = found.words.length ? twin(found, runs, word) : "There is no word yet.";
  };
}

/** The outputs of a word in both orders; null where there are none. */
function outputsOf({ orders, words, ...found }, name, word) {
  if (!words.length || !found[name]) return null;
  return orders.map((places, at) => found[name][at].outputs[places.indexOf(word)]);
}

function half(title) {
  const [plus, minus] = [svg("path", { class: "plus" }), svg("path", { class: "minus" })];
  const [axis, other] = [svg("path", { class: "axis" }), svg("path", { class: "alone" })];
  const drawing = plot([0, 0, 1, 1], axis, plus, minus, other);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  return {
    element: html("div", { class: "half" }, html("h3", {}, title), drawing, scale),
    update(outputs) {
      drawing.toggleAttribute("hidden", !outputs);
      scale.hidden = !outputs;
      if (!outputs) return;
      const [one, second] = outputs;
      const most = Math.max(...[...one, ...second].map(Math.abs)) || 1;
      set(drawing, { viewBox: `0 ${-1.04 * most} ${one.length} ${2.08 * most}` });
      set(axis, { d: `M0 0H${one.length}` });
      set(plus, { d: bars(one, (value) => value > 0) });
      set(minus, { d: bars(one, (value) => value < 0) });
      set(other, { d: Array.from(second, (value, at) => `M${at} ${-value}h1`).join("") });
      scale.replaceChildren(...[most, -most].map((end) => html("span", {}, tick(end))));
    },
  };
}

function twin(found, runs, word) {
  const name = quoted(found.words[word]);
  const told = Object.keys(HALVES).filter((half) => runs[half]).map((half) => {
    const difference = differenceOf(found[half], found.orders, word);
    if (isRounding(difference)) return `${HALVES[half]}, ${name} gets the same numbers in both orders.`;
    const [one, other] = runs[half].map((output) => decimal(output[difference.feature]));
    return `${HALVES[half]} they differ, most in feature ${whole(difference.feature)}: ${one} and ${other}.`;
  });
  return `${whole(runs.without[0].length)} numbers. ${told.join(" ")}`;
}
