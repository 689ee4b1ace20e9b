// The words and formulas of the encoding in sight.

import { html } from "./dom.js";

let described = null;

/** Says what an encoding does and where it acts, its formula, and what to notice. */
export function describe(method, room) {
  if (described === method) return;
  described = method;
  const section = document.getElementById("method");
  const { title, lead, steps, formulas, aloud } = method;
  section.querySelector("h2").textContent = title;
  section.querySelector(".hint").textContent = lead;
  section.querySelector(".steps").replaceChildren(
    ...steps.map(({ name, acts }) =>
      html("li", acts ? { "aria-current": "step" } : {}, html("span", {}, name)),
    ),
  );
  section.querySelector(".lines").innerHTML = formulas.join(""); // MathML made by the library
  section.querySelector("details p").textContent = aloud;
  document.getElementById("notes").replaceChildren(
    ...[...room.notes, ...method.notes].map(({ title: heading, text }) =>
      html("article", {}, html("h3", {}, heading), html("p", {}, text)),
    ),
  );
}
