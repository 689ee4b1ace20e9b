// How far each pair turns: in the texts of training, and in a text of the wanted length.

import { dots, html, plot, set, svg } from "../dom.js";
import { brief, decades, keys, level, pairAt, pairs, share, tokens } from "../tokens.js";
import { amount } from "../words.js";

export function create(figure) {
  const part = (name, tag = "path") => svg(tag, { class: name });
  const less = part("beyond", "rect");
  const [grid, one, cursor] = [part("axis"), part("one"), part("cursor")];
  const [seen, known, fresh, plain] = [part("seen"), part("known"), part("fresh"), part("plain")];
  const drawing = plot([0, 0, 1, 1], less, grid, cursor, one, plain, seen, known, fresh);
  const scale = html("p", { class: "marks upright", "aria-hidden": "true" });
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  const key = keys({
    seen: "in training",
    known: "in the wanted text, angles all seen",
    fresh: "in the wanted text, new angles",
    plain: "the same without a rule",
  });
  figure.querySelector(".drawing").append(scale, drawing, ends, key);

  return (scene) => {
    const { answer } = scene;
    const { after, seen: trained } = answer;
    const count = trained.length;
    const drawn = [...trained, ...after.turns, ...answer.plain.turns, 1].filter((turns) => turns > 0);
    const range = [Math.min(...drawn) / 1.5, Math.max(...drawn) * 1.5];
    const height = (turns) => 1 - share(turns, range);
    const across = (pair) => (pair + 0.5) / count;
    const spots = (turns, chosen = () => true) => dots(
      turns.flatMap((each, pair) => (each > 0 && chosen(pair) ? [[across(pair), height(each)]] : [])),
    );
    const unseen = new Set(after.unseen);
    set(less, { x: 0, y: height(1), width: 1, height: 1 - height(1) });
    set(grid, { d: decades(range).map((turns) => `M0 ${height(turns)}H1`).join("") });
    set(one, { d: `M0 ${height(1)}H1` });
    set(seen, { d: spots(trained) });
    set(known, { d: spots(after.turns, (pair) => !unseen.has(pair)) });
    set(fresh, { d: spots(after.turns, (pair) => unseen.has(pair)) });
    set(plain, { d: after.kind === "none" ? "" : spots(answer.plain.turns) });
    key.querySelector(".plain").hidden = after.kind === "none";
    const pair = pairAt(scene);
    set(cursor, { d: `M${across(pair)} 0V1` });
    const name = (turns) => (turns === 1 ? "1 turn" : brief(turns));
    scale.replaceChildren(...decades(range).map((turns) => level(height(turns), name(turns))));
    ends.replaceChildren(html("span", {}, "pair 0: fastest"), html("span", {}, `pair ${count - 1}: slowest`));
    figure.querySelector("figcaption").textContent = twin(answer, pair);
  };
}

function twin(answer, pair) {
  const { plain, after, trained, wanted, seen } = answer;
  const count = seen.length;
  const said = [
    `In a text of ${tokens(wanted)} without a rule, ${pairs(plain.unseen, count)} come to angles that ` +
      `${tokens(trained)} never showed${upTo(plain)}.`,
  ];
  if (after.kind !== "none") said.push(`With ${after.name} it is ${pairs(after.unseen, count)}${upTo(after)}.`);
  said.push(
    `Pair ${pair} made ${amount(seen[pair])} turns in training and makes ` +
      `${amount(after.turns[pair])} in the wanted text.`,
  );
  return said.join(" ");
}

function upTo({ unseen, farthest }) {
  return unseen.length ? `, up to ${amount(farthest)} times as far` : "";
}
