// The score while both tokens move on together, and while only the query does.

import { equallyFar, farTable, score, turns } from "../turning.js";
import { decimal, place, whole } from "../words.js";
import { twoCurves } from "./chart.js";

export function create(figure) {
  const show = twoCurves(figure, { curve: "both tokens move", dashed: "only the query moves" });

  return (scene) => {
    const { row, rows, settings, span, axes } = scene;
    figure.hidden = !turns(scene.recipe);
    if (figure.hidden) return;
    const { gap } = settings;
    const far = farTable(scene);
    const steps = Array.from({ length: rows }, (_, at) => at);
    const together = steps.map((at) => score(far, at + gap, at));
    const apart = steps.map((at) => score(far, at + gap, row));
    const words = [0, rows - 1].map((at) => `key at ${place(axes.row, span.start + at)}`);
    show({ curve: together, other: apart, cursor: row, dot: row, words });
    const same = steps.filter((at) => equallyFar(far, [at + gap, at], [row + gap, row]));
    figure.querySelector("figcaption").textContent = twin(scene, together, apart, same);
  };
}

function twin({ row, rows, settings, span, axes }, together, apart, same) {
  const off = Math.max(...same.map((at) => Math.abs(together[at] - together[row])));
  const spread = Math.max(...apart) - Math.min(...apart);
  const others = rows - same.length;
  const wrapped = others
    ? ` At the other ${whole(others)} the same steps in reading order lead another way.`
    : "";
  return (
    `With the key at ${place(axes.row, span.start + row)} and the query ${whole(settings.gap)} ` +
    `on, the score is ${decimal(together[row])}. Moved together to ${among(same.length)}, ` +
    `it changes by at most ${decimal(off)}.${wrapped} Moving the query alone changes it by up ` +
    `to ${decimal(spread)}.`
  );
}

function among(count) {
  return count === 1 ? "the one place that is like it" : `any of ${whole(count)} places`;
}
