// The slope of each head, on a scale of powers of two, and what another rule would give.

import { dots, html, plot, set, svg } from "../dom.js";
import { amount, decimal, whole } from "../words.js";

export function create(figure) {
  const names = ["axis", "stems", "other", "points", "dot"];
  const [grid, stems, dashes, points, current] = names.map((name) => svg("path", { class: name }));
  const drawing = plot([0, 0, 1, 1], grid, stems, dashes, points, current);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  const heads = html("p", { class: "heads", "aria-hidden": "true" });
  const key = html("p", { class: "names", "aria-hidden": "true" });
  const body = html("tbody");
  const titles = html("tr");
  const table = html("table", { class: "sides" }, html("thead", {}, titles), body);
  const details = html("details", {}, html("summary", {}, "Both rules in numbers"), table);
  figure.querySelector(".drawing").append(drawing, scale, heads, key, details);

  return ({ recipe, settings, answer }) => {
    const { slopes, rules } = answer;
    const head = Math.min(settings.head, slopes.length - 1);
    const other = rules.find((rule) => differing(rule.slopes, slopes).length);
    const heights = [...slopes, ...(other?.slopes ?? [])].map(Math.log2);
    const [low, high] = [Math.floor(Math.min(...heights)) - 1, Math.ceil(Math.max(...heights))];
    const spots = (all) => all.map((slope, at) => [at + 0.5, -Math.log2(slope)]);
    const levels = Array.from({ length: high - low + 1 }, (_, step) => low + step);
    set(drawing, { viewBox: `0 ${-high - 0.5} ${slopes.length} ${high - low + 0.5}` });
    set(grid, { d: levels.map((level) => `M0 ${-level}H${slopes.length}`).join("") });
    set(stems, { d: spots(slopes).map(([x, y]) => `M${x} ${-low}V${y}`).join("") });
    set(points, { d: dots(spots(slopes)) });
    set(current, { d: dots([spots(slopes)[head]]) });
    set(dashes, { d: other ? spots(other.slopes).map(([x, y]) => `M${x - 0.4} ${y}h0.8`).join("") : "" });
    scale.replaceChildren(...[high, low].map((level) => html("span", {}, fraction(2 ** level))));
    heads.replaceChildren(...[0, slopes.length - 1].map((at) => html("span", {}, `head ${at}`)));
    key.replaceChildren(...(other ? [html("span", {}, `dash: ${other.label}`)] : []));
    sideBySide(titles, body, rules, head);
    figure.querySelector("figcaption").textContent =
      [recipe.mistake && "Without the mistake:", twin(slopes, head), compared(rules, slopes, other)]
        .filter(Boolean).join(" ");
  };
}

/** Heads whose slopes differ. */
function differing(one, other) {
  return one.flatMap((slope, head) => (slope === other[head] ? [] : [head]));
}

function sideBySide(titles, body, rules, current) {
  titles.replaceChildren(...["Head", ...rules.map(({ label }) => label)].map((label) => html("th", { scope: "col" }, label)));
  const rows = (rules[0].slopes).map((_, head) => {
    const slopes = rules.map((rule) => rule.slopes[head]);
    const names = [head === current && "here", new Set(slopes).size > 1 && "differs"].filter(Boolean);
    const cells = slopes.map((slope) => html("td", {}, decimal(slope)));
    return html("tr", { class: names.join(" ") }, html("th", { scope: "row" }, head), ...cells);
  });
  body.replaceChildren(...rows);
}

function fraction(value) {
  return value < 1 ? `1/${whole(1 / value)}` : whole(value);
}

function twin(slopes, head) {
  const falling = slopes.every((slope, at) => at === 0 || slope < slopes[at - 1]);
  return (
    `${whole(slopes.length)} slopes from ${decimal(Math.max(...slopes))} to ` +
    `${decimal(Math.min(...slopes))}, ${falling ? "falling from head to head" : "not in order"}. ` +
    `Head ${head} takes ${decimal(slopes[head])} off a score for each position of distance: its ` +
    `attention halves every ${amount(Math.LN2 / slopes[head])} positions.`
  );
}

/** What the rules make of this number of heads. */
function compared(rules, slopes, other) {
  const labels = rules.map(({ label }) => label).join(" and ");
  if (!other) return `For ${whole(slopes.length)} heads ${labels} give the same slopes.`;
  const heads = differing(other.slopes, slopes);
  if (heads.length === slopes.length) return `By ${other.label}, every head would have another slope.`;
  const named = `${whole(heads.length)} of ${whole(slopes.length)} heads (${heads.join(", ")})`;
  return `By ${other.label}, ${named} would have another slope.`;
}
