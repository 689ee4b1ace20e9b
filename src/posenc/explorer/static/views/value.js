// A value: it is handed on as it is, wherever its token stands.

import { set, svg } from "../dom.js";
import { farTable, mixedWith, turnedTo, turns } from "../turning.js";
import { decimal, place, whole } from "../words.js";
import { bars, chart, legend } from "./chart.js";

export function create(figure) {
  const [plus, minus] = [svg("path", { class: "plus" }), svg("path", { class: "minus" })];
  const [axis, turned] = [svg("path", { class: "axis" }), svg("path", { class: "turned" })];
  const { drawing, label } = chart(figure, axis, plus, minus, turned);
  const names = legend({ bars: "the value, as it is", turned: "were it turned" });
  figure.querySelector(".drawing").append(names);

  return (scene) => {
    const { recipe, row } = scene;
    figure.hidden = !turns(recipe);
    if (figure.hidden) return;
    const value = recipe.example.key; // any numbers would do
    const wrong = turnedTo(farTable(scene), value, row, "key");
    // As far as turning can lead, so that the scale stays while the position moves.
    const mixed = mixedWith(recipe);
    const lengths = value.map((each, at) => recipe.scale * Math.hypot(each, value[mixed[at]]));
    const reach = Math.max(...value.map(Math.abs), ...lengths);
    set(drawing, { viewBox: `0 ${-reach} ${value.length} ${2 * reach}` });
    set(axis, { d: `M0 0H${value.length}` });
    set(plus, { d: bars(value, (each) => each > 0) });
    set(minus, { d: bars(value, (each) => each < 0) });
    set(turned, { d: Array.from(wrong, (each, at) => `M${at} ${-each}h1`).join("") });
    label(reach, -reach, [0, value.length - 1].map((at) => `feature ${whole(at)}`));
    figure.querySelector("figcaption").textContent = twin(scene, value, wrong);
  };
}

function twin({ axes, span, row }, value, wrong) {
  const off = Math.hypot(...value.map((each, at) => each - wrong[at]));
  return (
    `A value with the numbers of this key, ${decimal(Math.hypot(...value))} long, is the same at ` +
    `${place(axes.row, span.start + row)} as anywhere: nothing turns it. Turned like the key it ` +
    `would be ${decimal(off)} away from itself, and what attention hands on would depend on ` +
    `where the text begins.`
  );
}
