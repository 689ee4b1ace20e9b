// Where each encoding acts, what of it is trained, and where it is met: words of the page.

import { chosen } from "../comparing.js";
import { html } from "../dom.js";
import { fill } from "../ledger.js";

export function create(figure, change, page) {
  const frame = html("div", { class: "scroll", role: "region", tabindex: 0, "aria-labelledby": "facts-title" });
  figure.querySelector(".drawing").append(frame);
  let drawn = "";

  return ({ settings }) => {
    const kinds = chosen(settings, page);
    const state = JSON.stringify([kinds, settings.encoding]);
    if (state === drawn) return;
    drawn = state;
    const methods = kinds.map((kind) => page.methods[kind]);
    const rows = Object.keys(methods[0].facts).map((question) => ({
      head: [html("b", {}, question)],
      cells: methods.map(({ facts }) => [facts[question]]),
    }));
    fill(frame, { names: methods.map(({ name }) => name), here: kinds.indexOf(settings.encoding), rows });
    figure.querySelector("figcaption").textContent =
      methods.map(({ name, title }) => (name === title ? name : `${name}: ${title}`)).join("; ") + ".";
  };
}
