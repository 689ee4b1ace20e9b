// Every rule side by side, for one factor. The name of a rule chooses it.

import { html } from "../dom.js";
import { most, slowing } from "../slowing.js";
import { keys, pairAt, pairs, tokens } from "../tokens.js";
import { amount, decimal } from "../words.js";

const SEARCHED =
  "A number of its own for each pair, found by search for one model, so no factor gives them. " +
  "Read a model that has them, below.";

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
    const state = JSON.stringify([answer.rules, pair]);
    if (state !== drawn) {
      drawn = state;
      const focused = document.activeElement?.dataset?.rule;
      const possible = answer.rules.filter(({ why }) => !why);
      const highest = most(possible);
      buttons = new Map(possible.map((rule) => [rule.kind, button(rule, change)]));
      const tiles = answer.rules.map((rule) => {
        if (rule.why) return words(rule.name, rule.why);
        const detail = html("p", { class: "detail" }, numbers(rule));
        return html("li", {}, buttons.get(rule.kind), slowing(rule, highest, pair), detail);
      });
      list.replaceChildren(...tiles, words("LongRoPE", SEARCHED));
      buttons.get(focused)?.focus();
    }
    for (const [kind, each] of buttons) each.setAttribute("aria-pressed", kind === answer.after.kind);
    figure.querySelector("figcaption").textContent = twin(answer);
  };
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

function twin({ rules, factor, trained, wanted }) {
  const said = rules.filter(({ why }) => !why).map(({ name, slower, unseen, table_factor: table }) => {
    const scores = table === 1 ? "" : `, scores times ${decimal(table * table)}`;
    return `${name} ${pairs(unseen, slower.length)}${scores}`;
  });
  return (
    `For a factor of ${amount(factor)}, and for Dynamic NTK as far as the text is long: which pairs come in ` +
    `${tokens(wanted)} to angles that ${tokens(trained)} never showed. ${said.join("; ")}.`
  );
}
