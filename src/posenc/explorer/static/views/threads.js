// Which features are a pair, in two pairings: a thread from each feature to the one in its place.

import { html, plot, set, svg } from "../dom.js";
import { columnOf, permutation } from "../turning.js";
import { whole } from "../words.js";

const [TOP, BOTTOM] = [0.2, 0.8]; // where the two pairings lie

export function create(figure, change, page) {
  const [first, second] = [svg("path", { class: "first" }), svg("path", { class: "second" })];
  const [rest, current] = [svg("path", { class: "axis" }), svg("path", { class: "chosen" })];
  const drawing = plot([0, 0, 1, 1], rest, first, second, current);
  const line = () => html("p", { class: "heads", "aria-hidden": "true" });
  const [above, below] = [line(), line()];
  figure.querySelector(".drawing").append(above, drawing, below);
  let shown = null;
  drawing.onclick = ({ offsetX }) => {
    const feature = Math.floor((offsetX / drawing.clientWidth) * shown.example.key.length);
    const pair = shown.partners.findIndex((places) => places.includes(feature));
    if (pair >= 0) change({ column: columnOf(shown, pair) }, { done: true });
  };

  return ({ recipe, column, got, settings }) => {
    shown = recipe;
    figure.hidden = !got.other;
    if (figure.hidden) return;
    const { partners } = recipe;
    const others = got.other.recipe.partners;
    const { length } = recipe.example.key;
    const moved = permutation(partners, others, length);
    const [, pair] = recipe.columns[column];
    const thread = (feature) => `M${feature + 0.5} ${TOP}L${moved[feature] + 0.5} ${BOTTOM}`;
    const path = (features) => features.map(thread).join("");
    const paired = new Set(partners.flat());
    const bows = bow(partners[pair], TOP, 0) + bow(others[pair], BOTTOM, 1);
    set(drawing, { viewBox: `0 0 ${length} 1` });
    set(first, { d: path(partners.map(([one]) => one)) });
    set(second, { d: path(partners.map(([, other]) => other)) });
    set(rest, { d: path([...moved.keys()].filter((feature) => !paired.has(feature))) });
    set(current, { d: path(partners[pair]) + bows });
    const names = namesOf(page, settings);
    label(above, names[0], length);
    label(below, names[1], length);
    const places = [partners[pair], others[pair]];
    const count = moved.filter((to, from) => to !== from).length;
    figure.querySelector("figcaption").textContent = twin(pair, places, names, count);
  };
}

/** A bow from one feature to its partner. */
function bow([one, other], from, towards) {
  const [x, end] = [one + 0.5, other + 0.5];
  return `M${x} ${from}C${x} ${towards} ${end} ${towards} ${end} ${from}`;
}

function label(line, name, length) {
  const words = ["0", name, `feature ${whole(length - 1)}`];
  line.replaceChildren(...words.map((word) => html("span", {}, word)));
}

/** What the form calls this pairing and the other one. */
function namesOf(page, { encoding, layout }) {
  const { options } = page.methods[encoding].controls.find(({ name }) => name === "layout");
  const at = Math.max(options.findIndex(({ value }) => value === layout), 0);
  return [options[at].label, options[(at + 1) % options.length].label];
}

function twin(pair, [here, there], [name, other], moved) {
  return (
    `Pair ${pair} is features ${here.join(" and ")} in “${name}”, and ${there.join(" and ")} in ` +
    `“${other}”. ${whole(moved)} features change places between the two; the rows of the ` +
    `weights that make queries and keys must move along the same threads.`
  );
}
