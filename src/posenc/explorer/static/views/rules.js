// Every rule side by side, for one factor. The name of a rule chooses it.

import { html } from "../dom.js";
import { most, slowing } from "../slowing.js";
import { keys, pairAt, pairs, tokens } from "../tokens.js";
import { amount, decimal } from "../words.js";

const SEARCHED = {
  kind: "longrope",
  name: "LongRoPE",
  settings: { scaling: "longrope" },
  why: "A number of its own for each pair, found by search for one model, so no factor gives them. " +
    "Choose it to set the ends of its two lists, or read a model that has them, below.",
};

export function create(figure, change) {
  const list = html("ol", { class: "rules" });
  figure.querySelector(".drawing").append(list, keys({
    curve: "times slower, on a scale of powers",
    fresh: "a pair that comes to new angles",
  }));
  let drawn = "";
  let buttons = new Map();

  return (scene) => {
    const { answer } = scene;
    const pair = pairAt(scene);
    const state = JSON.stringify([answer.rules, answer.after, pair]);
    if (state !== drawn) {
      drawn = state;
      const focused = document.activeElement?.dataset?.rule;
      const possible = answer.rules.filter(({ why }) => !why);
      const highest = most([...possible, answer.after]);
      const searched = { ...SEARCHED, settings: { ...SEARCHED.settings, original_length: answer.trained } };
      buttons = new Map([...possible, searched].map((rule) => [rule.kind, button(rule, change)]));
      const tiles = answer.rules.map((rule) => {
        if (rule.why) return words(rule.name, rule.why);
        const detail = html("p", { class: "detail" }, numbers(rule));
        return html("li", {}, buttons.get(rule.kind), slowing(rule, highest, pair), detail);
      });
      list.replaceChildren(...tiles, html("li", {}, buttons.get(searched.kind), ...told(answer, highest, pair)));
      buttons.get(focused)?.focus();
    }
    for (const [kind, each] of buttons) each.setAttribute("aria-pressed", kind === answer.after.kind);
    figure.querySelector("figcaption").textContent = twin(answer);
  };
}

/** What is said of LongRoPE, and shown once it is chosen: until then there are no lists. */
function told({ after }, highest, pair) {
  const detail = (words) => html("p", { class: "detail" }, words);
  if (after.kind !== SEARCHED.kind) return [detail(SEARCHED.why)];
  return [slowing(after, highest, pair), detail(`With the lists of the form: ${numbers(after)}`)];
}

function button({ kind, name, settings }, change) {
  const element = html("button", { type: "button", "data-rule": kind }, name);
  element.onclick = () => change(settings, { done: true });
  return element;
}

/** A rule that has no picture here, and why. */
function words(name, why) {
  return html("li", {}, html("h3", {}, name), html("p", { class: "detail" }, why));
}

function numbers({ slower, unseen, farthest, table_factor: table }) {
  const times = Math.max(...slower.filter(Number.isFinite));
  const speed = times > 1 ? `up to ${amount(times)}× slower` : "as fast as trained";
  const far = `${unseen.length} pairs in new angles, up to ${amount(farthest)}× as far`;
  const scores = table === 1 ? "" : `; scores × ${amount(table * table)}`;
  return `${speed}; ${unseen.length ? far : "no new angles"}${scores}`;
}

function twin({ rules, after, factor, trained, wanted }) {
  const searched = after.kind === SEARCHED.kind ? [after] : [];
  const said = [...rules.filter(({ why }) => !why), ...searched].map(({ name, slower, unseen, table_factor: table }) => {
    const scores = table === 1 ? "" : `, scores times ${decimal(table * table)}`;
    return `${name} ${pairs(unseen, slower.length)}${scores}`;
  });
  return (
    `For a factor of ${amount(factor)}, and for Dynamic NTK as far as the text is long: which pairs come in ` +
    `${tokens(wanted)} to angles that ${tokens(trained)} never showed. ${said.join("; ")}.`
  );
}
