// The largest errors at places far out, for every way of casting, as a table.

import { html } from "../dom.js";
import { labelOf, said } from "../narrowed.js";
import { whole } from "../words.js";

export function create(figure, change, page) {
  const region = { role: "region", tabindex: 0, "aria-labelledby": "far-title" };
  const frame = html("div", { class: "scroll counts", ...region });
  figure.querySelector(".drawing").append(frame);
  figure.querySelector("figcaption").textContent = "Computing.";
  let drawn = "";

  return ({ answer, settings }) => {
    const { format, cast } = settings;
    const ways = waysOf(answer, format, cast, page);
    const state = JSON.stringify([ways, answer.places]);
    if (state === drawn) return;
    drawn = state;
    frame.replaceChildren(tableOf(answer.places, ways));
    figure.querySelector("figcaption").textContent = twin(answer.places, ways);
  };
}

function waysOf({ far, others }, format, cast, page) {
  const chosen = Object.entries(far[format]).map(([way, errors]) => ({
    name: `${labelOf(page, "cast", way)} in ${format}`,
    errors,
    here: way === cast,
  }));
  const own = { name: "posenc, the result in float32", errors: far.float32.end, own: true };
  return [...chosen, ...others, own];
}

function tableOf(places, ways) {
  const names = places.map((place) => `before ${whole(place)}`);
  const heads = ["What is cast", ...names].map((name) => html("th", { scope: "col" }, name));
  const body = ways.map(({ name, errors, here, own }) =>
    html("tr", { class: here ? "here" : own ? "own" : "" },
      html("th", { scope: "row" }, name),
      ...errors.map((error, at) => html("td", { "data-name": names[at] }, said(error))),
    ),
  );
  return html("table", {}, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...body));
}

function twin(places, ways) {
  const told = ways.filter(({ here, own }) => here || own);
  const [first, last] = [places[0], places.at(-1)].map(whole);
  const words = ({ name, errors }) =>
    `With ${name}: ${said(errors[0])} before ${first} and ${said(errors.at(-1))} before ${last}.`;
  return told.map(words).join(" ");
}
