// Some pairs as the wheels of a mileage counter: ten digits a turn, the slowest wheel in front.

import { html, set, svg } from "../dom.js";
import { countable, handOf, hasPairs, pairsOf, partOf, turnsOf } from "../pairs.js";
import { place, whole } from "../words.js";

const MOST = 7; // wheels
const DIGITS = 10; // on a wheel
const SEEN = 0.9; // of a digit, above and below the middle

export function create(figure) {
  const list = html("ol", { class: "wheels" });
  figure.querySelector(".drawing").append(list);
  let drawn = "";
  let wheels = [];

  return (scene) => {
    const { recipe, column, row, axes, span } = scene;
    figure.hidden = !hasPairs(recipe);
    if (figure.hidden) return;
    const [, under] = recipe.columns[column];
    const pairs = chosen(recipe, under);
    const state = JSON.stringify([recipe.text, pairs]);
    if (state !== drawn) {
      drawn = state;
      wheels = pairs.map(wheel);
      list.replaceChildren(...wheels.map(({ item }) => item));
    }
    for (const each of wheels) each.move(scene, under);
    const where = place(axes.row, span.start + row);
    const read = pairs.map((pair) => `pair ${pair.pair}, ${said(scene, pair)}`).join("; ");
    const order = countable(recipe) ? "from slow to fast" : "pair by pair";
    figure.querySelector("figcaption").textContent = `At ${where}, ${order}: ${read}.`;
  };
}

/** Some pairs from the fastest to the slowest and the one under the cursor, slow ones first. */
function chosen(recipe, under) {
  const all = pairsOf(recipe);
  const speed = ({ pair }) => Math.abs(recipe.frequencies?.[pair] ?? -pair);
  const sorted = all.toSorted((one, other) => speed(one) - speed(other));
  const steps = Math.min(sorted.length, MOST) - 1;
  const step = (sorted.length - 1) / (steps || 1);
  const some = Array.from({ length: steps + 1 }, (_, at) => sorted[Math.round(at * step)]);
  return sorted.filter((each) => each.pair === under || some.includes(each));
}

function wheel(pair) {
  const roll = svg("g", {}, ...Array.from({ length: DIGITS + 2 }, (_, at) => digit(at - 1)));
  const face = svg(
    "svg",
    { viewBox: `-0.5 ${-SEEN} 1 ${2 * SEEN}`, "aria-hidden": "true" },
    svg("rect", { class: "slot", x: -0.5, y: -SEEN, width: 1, height: 2 * SEEN, rx: 0.12 }),
    svg("rect", { class: "band", x: -0.5, y: -0.5, width: 1, height: 1 }),
    roll,
  );
  const rounds = html("span", {});
  const item = html("li", {}, face, html("p", {}, `pair ${pair.pair}`, rounds));
  return {
    item,
    move(scene, under) {
      const rolled = DIGITS * partOf(handOf(scene, pair, scene.row));
      set(roll, { transform: `translate(0 ${-rolled.toFixed(4)})` });
      set(item, { class: pair.pair === under ? "current" : "" });
      rounds.textContent = countable(scene.recipe) ? turns(roundsOf(scene, pair)) : "";
    },
  };
}

function digit(at) {
  return svg("text", { y: at }, String((at + DIGITS) % DIGITS));
}

function roundsOf(scene, pair) {
  return Math.floor(turnsOf(scene, pair, scene.row));
}

function turns(count) {
  return `${whole(count)} ${count === 1 ? "turn" : "turns"}`;
}

function said(scene, pair) {
  if (countable(scene.recipe)) return `${turnsOf(scene, pair, scene.row).toFixed(2)} turns`;
  return `${partOf(handOf(scene, pair, scene.row)).toFixed(2)} of a turn`;
}
