// How near to each other the nearest two rows are that stand a given distance apart.

import { dots, line, set, svg } from "../dom.js";
import { decimal, whole } from "../words.js";
import { chart } from "./chart.js";

export function create(figure) {
  const [axis, curve] = [svg("path", { class: "axis" }), svg("path", { class: "curve fine" })];
  const spots = svg("path", { class: "dot" });
  const { drawing, label } = chart(figure, axis, curve, spots);

  return ({ answer, axes }) => {
    const { nearest, pairs, below } = answer;
    figure.hidden = nearest.length === 0;
    if (figure.hidden) return;
    const high = Math.max(...nearest) || 1;
    const spot = ({ first, second, distance }) => [second - first, -distance];
    set(drawing, { viewBox: `0 ${-1.05 * high} ${below} ${1.1 * high}` });
    set(axis, { d: `M0 0H${below}` });
    set(curve, { d: line(nearest.map((distance, at) => [at + 1, -distance])) });
    set(spots, { d: dots(pairs.map(spot)) });
    label(high, 0, ["1 apart", `${whole(below - 1)} apart`]);
    figure.querySelector("figcaption").textContent = twin(answer, axes.row.name);
  };
}

function twin({ pairs, nearest, below }, name) {
  const neighbours = `The nearest neighbours are ${decimal(nearest[0])} apart.`;
  if (!pairs.length) return `No two of ${whole(below)} places far apart look alike. ${neighbours}`;
  const [first, ...others] = pairs;
  const more = others.length ? ` Next come ${others.map(said).join(", and ")}.` : "";
  const worst =
    first.distance < nearest[0]
      ? "No two places are easier to confuse"
      : "Of places that are no neighbours these are the easiest to confuse";
  return `${worst}: among ${name}s below ${whole(below)}, ${said(first)}.${more} ${neighbours}`;
}

function said({ first, second, distance, every }) {
  const like = every ? `, as any two that are ${whole(second - first)} apart` : "";
  return `${whole(first)} and ${whole(second)}${like} (distance ${decimal(distance)})`;
}
