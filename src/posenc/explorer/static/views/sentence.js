// The words of the sentence in two orders, and how far what they get differs.

import { html } from "../dom.js";
import { chosen, isRounding, nextShuffle, quoted, residual, shown, toy } from "../order.js";
import { decimal, whole } from "../words.js";

const MIRRORED =
  "Both orders have the same distances, and this encoding does not tell one side from the other. Shuffle instead.";
const HIDES = "This encoding hides the words ahead by itself, which tells the order as a causal mask does.";
const SHUFFLES = 1000; // as many as the setting has

export function create(figure, change, page) {
  const first = html("fieldset", { class: "choice words" });
  const second = html("p", { class: "words" });
  const again = html("button", { type: "button" }, "Shuffle");
  const other = html("div", { class: "other-order" }, html("p", { class: "detail" }, "The other order"), second, again);
  const sides = { without: side("Without positions"), with: side("With the encoding") };
  const results = html("div", { class: "results" }, sides.without.element, sides.with.element);
  figure.querySelector(".drawing").append(first, other, results);

  let [settings, found] = [{}, null];
  again.onclick = () => change({ order: "shuffled", shuffle: nextShuffle(settings, found, SHUFFLES) }, { done: true });
  let built = "";

  return (scene) => {
    ({ settings } = scene);
    found = toy(scene);
    const wanted = JSON.stringify(found.words);
    if (wanted !== built) {
      built = wanted;
      fill(found.words);
    }
    const word = chosen(scene, found);
    first.querySelectorAll("input").forEach((radio, at) => {
      radio.checked = at === word;
    });
    second.replaceChildren(...found.orders[1].map((at) => wordOf(found.words[at], at === word)));
    for (const name of ["without", "with"]) sides[name].update(found[name], found);
    figure.querySelector("figcaption").textContent = twin(scene, found, page.methods[settings.encoding].title);
  };

  function fill(words) {
    const labels = words.map((word, at) => {
      const radio = html("input", { type: "radio", name: "chosen", value: at });
      radio.onchange = () => change({ word: at + 1 }, { done: true });
      return html("label", {}, radio, html("span", {}, wordOf(word)));
    });
    first.replaceChildren(html("legend", { class: "detail" }, "Your order; choose a word"), ...labels);
  }
}

/** A word with its own direction of reading. */
function wordOf(word, here = false) {
  return html("bdi", here ? { class: "here" } : {}, shown(word));
}

function side(title) {
  const value = html("p", { class: "residual" });
  const words = html("p", { class: "detail" });
  return {
    element: html("div", { class: "side" }, html("h3", {}, title), value, words),
    update(run, { words: all, orders }) {
      if (!all.length || !run) {
        value.textContent = "–";
        words.textContent = "";
        return;
      }
      const found = residual(run, orders);
      value.textContent = isRounding(found) ? "0" : decimal(found.size);
      words.textContent = isRounding(found)
        ? "Every word gets the same in both orders."
        : "What a word gets depends on the order.";
    },
  };
}

function twin({ settings: { mask, order } }, found, title) {
  const { words, dropped, orders, ids } = found;
  if (!words.length) return "There is no word yet: type a sentence into the settings.";
  const same = orders[1].every((word, place) => ids[word] === ids[place]);
  const [one, other] = orders.map((places) => quoted(...places.map((word) => words[word])));
  return [
    dropped && `Only the first ${whole(words.length)} of ${whole(words.length + dropped)} words are used.`,
    same ? `${one} is the same in the other order, so nothing can differ.` : `${one} beside ${other}.`,
    told(found, "without", "Without positions"),
    mask === "on" && !same && "The causal mask alone tells the order: a word sees only what came before.",
    told(found, "with", `With positions (${title})`),
    !same && order === "reversed" && mirrored(found) && MIRRORED,
    mask === "off" && hides(found) && HIDES,
  ].filter(Boolean).join(" ");
}

/** Whether the encoding is blind to a reversal alone. */
function mirrored({ with: runs, orders }) {
  return runs && isRounding(residual(runs, orders)) && runs[0].scores[0].some((score, at) => score !== runs[0].scores[0][at + 1]);
}

function hides({ with: runs }) {
  return runs?.some(({ scores }) => scores.flat().includes(-Infinity));
}

/** The verdict on one half of the picture. */
function told(found, name, lead) {
  if (!found[name]) return `${lead}: the table has another shape than the words, so it cannot be added to them.`;
  const { size, word, feature } = residual(found[name], found.orders);
  if (isRounding({ size })) {
    const rest = size ? ` (${size.toExponential(0).replace("-", "−")}, which is rounding)` : "";
    return `${lead} every word gets the same in both orders: the residual is 0${rest}.`;
  }
  return (
    `${lead} the residual is ${decimal(size)}: the most by which any output differs, in feature ` +
    `${whole(feature)} of ${quoted(found.words[word])}.`
  );
}
