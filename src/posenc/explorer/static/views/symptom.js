// What the mistake does to the laws that right numbers keep: a curve, and a table of measures.

import { html, line, plot, set, svg } from "../dom.js";
import { decimal, tick, whole } from "../words.js";

const NEEDS =
  "Measures and diagnoses need the library, which these saved pages do not have: " +
  "install it with pip install 'posenc[explore]' and start posenc explore.";

export function create(figure, change, page) {
  const [axis, band] = [svg("path", { class: "axis" }), svg("path", { class: "band" })];
  const [right, wrong] = [svg("path", { class: "curve" }), svg("path", { class: "astray" })];
  const drawing = plot([0, 0, 1, 1], axis, band, right, wrong);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  const name = html("p", { class: "hint" });
  const names = html("p", { class: "names", "aria-hidden": "true" });
  names.append(html("span", { class: "right" }, "right"), html("span", { class: "wrong" }, "wrong, with its spread"));
  const picture = html("div", { class: "against" }, name, drawing, scale, ends, names);
  const measures = html("div", { class: "measures" });
  const go = html("button", { type: "button" });
  figure.querySelector(".drawing").append(picture, measures, html("p", {}, go));
  let first = null;
  go.onclick = () => change(leading(first), { done: true });

  function leading({ at, moves }) {
    return moves ? { from: Math.max(at - 8, 0), position: at } : { count: at + 8, position: at };
  }

  return (scene) => {
    const { where, measures: found, curve } = scene.answer;
    picture.hidden = !curve;
    measures.hidden = !found.length;
    if (curve) draw(curve);
    measures.replaceChildren(...(found.length ? [table(found)] : []));
    const moves = page.methods[scene.settings.encoding].tags.includes("line");
    const seen = where?.first < scene.span.start + (scene.got.right ?? scene.got.main).rows;
    first = { at: where?.first, moves };
    go.parentElement.hidden = !Number.isInteger(where?.first) || seen;
    go.textContent = `Go to ${scene.axes.row.name} ${whole(where?.first ?? 0)}`;
    figure.querySelector("figcaption").textContent = twin(scene, page);
  };

  function draw({ name: what, right: before, low, mean, high }) {
    const every = [...before, ...low, ...high, 0];
    const [least, most] = [Math.min(...every), Math.max(...every)];
    const height = most - least || 1;
    set(drawing, { viewBox: `0 ${-most - 0.04 * height} ${before.length - 1} ${1.08 * height}` });
    set(axis, { d: `M0 0H${before.length - 1}` });
    set(right, { d: line(before.map((value, gap) => [gap, -value])) });
    set(wrong, { d: line(mean.map((value, gap) => [gap, -value])) });
    const edge = [...high.map((value, gap) => [gap, -value]), ...low.map((value, gap) => [gap, -value]).reverse()];
    set(band, { d: `${line(edge)}Z` });
    scale.replaceChildren(...[most, least].map((end) => html("span", {}, tick(end))));
    ends.replaceChildren(...[0, before.length - 1].map((gap) => html("span", {}, `distance ${whole(gap)}`)));
    name.textContent = `${what[0].toUpperCase()}${what.slice(1)}, by distance`;
  }
}

function table(found) {
  const head = ["measured", "right", "wrong"].map((name) => html("th", { scope: "col" }, name));
  const rows = found.map(({ name, right, wrong, broken }) =>
    html(
      "tr",
      broken ? { class: "broken" } : {},
      html("th", { scope: "row" }, name),
      html("td", {}, number(right)),
      html("td", {}, number(wrong), ...(broken ? [html("strong", {}, " broken")] : [])),
    ),
  );
  return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

function number(value) {
  return Number.isInteger(value) ? whole(value).replace("-", "−") : decimal(value);
}

function twin({ settings, answer, axes, got }, page) {
  const { where, measures } = answer;
  if (page.offline && (settings.mistake || settings.case)) return NEEDS;
  if (!where) return "No mistake is made, so 0 laws are broken.";
  if (where.shapes) {
    const [right, wrong] = where.shapes.map((shape) => shape.map(whole).join(" by "));
    return `The shape is wrong: ${wrong} instead of ${right}.`;
  }
  const row = (got.right ?? got.main).recipe.axes.row.name;
  const { first, looked, cells, of, what, most } = where;
  if (first === null) return `None of the first ${whole(looked)} ${row === "query" ? "queries" : "positions"} shows it.`;
  const broken = measures.filter((each) => each.broken).map(({ name, right, wrong }) => `${name}: ${number(wrong)}, not ${number(right)}`);
  const part = `The first ${row} that differs is ${whole(first)}; of the first ${whole(looked)}, ${whole(cells)} of ${whole(of)} ${what} differ`;
  const largest = most === null ? ", some of them masked in one table alone" : `, by up to ${decimal(most)}`;
  const laws = broken.length ? `${whole(broken.length)} of ${whole(measures.length)} measures break a law: ${broken.join("; ")}.` : "No law measured here is broken: the numbers are regular, only not the right ones.";
  return `${part}${largest}. ${laws}`;
}
