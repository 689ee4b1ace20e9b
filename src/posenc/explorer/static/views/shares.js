// What each pair of features adds to the score of the query and the key.

import { set, svg } from "../dom.js";
import { columnOf, farTable, shares, turns } from "../turning.js";
import { decimal, whole } from "../words.js";
import { bars, chart } from "./chart.js";

export function create(figure, change) {
  const [plus, minus] = [svg("path", { class: "plus" }), svg("path", { class: "minus" })];
  const [band, axis] = [svg("rect", { class: "band" }), svg("path", { class: "axis" })];
  const { drawing, label } = chart(figure, band, axis, plus, minus);
  let shown = null;
  drawing.onclick = ({ offsetX }) => {
    const count = shown.partners.length;
    const pair = Math.min(Math.floor((offsetX / drawing.clientWidth) * count), count - 1);
    change({ column: columnOf(shown, pair) }, { done: true });
  };

  return (scene) => {
    const { recipe, settings, row, column } = scene;
    figure.hidden = !turns(recipe);
    if (figure.hidden) return;
    shown = recipe;
    const found = shares(farTable(scene), row + settings.gap, row);
    const [, current] = recipe.columns[column];
    const reach = Math.max(largest(recipe), ...found.pairs.map(Math.abs));
    const count = found.pairs.length;
    set(drawing, { viewBox: `0 ${-reach} ${count} ${2 * reach}` });
    set(axis, { d: `M0 0H${count}` });
    set(band, { x: current, y: -reach, width: 1, height: 2 * reach });
    set(plus, { d: bars(found.pairs, (value) => value > 0) });
    set(minus, { d: bars(found.pairs, (value) => value < 0) });
    label(reach, -reach, [0, count - 1].map((pair) => `pair ${pair}`));
    figure.querySelector("figcaption").textContent = twin(found, current);
  };
}

/** The most that a pair can add: both hands pointing the same way. */
function largest({ partners, example: { query, key }, scale }) {
  const long = (vector, [one, other]) => Math.hypot(vector[one], vector[other]);
  return Math.max(...partners.map((pair) => long(query, pair) * long(key, pair))) * scale ** 2;
}

function twin({ pairs, rest }, current) {
  const above = pairs.filter((value) => value > 0).length;
  const total = pairs.reduce((sum, value) => sum + value, rest);
  const sizes = pairs.map(Math.abs);
  const most = sizes.indexOf(Math.max(...sizes));
  const still = rest ? ` Features that do not turn add ${decimal(rest)}.` : "";
  return (
    `Pair ${current} adds ${decimal(pairs[current])} to the score of ${decimal(total)}. Of ` +
    `${whole(pairs.length)} pairs ${whole(above)} add and the rest take away; pair ${most} ` +
    `counts most, with ${decimal(pairs[most])}.${still}`
  );
}
