// What the library says of the table: the best guess, the next one, and a way into the room Table.

import { inNotebook, takeAlong } from "../address.js";
import { html } from "../dom.js";
import { isOpen, said } from "../naming.js";
import { said as saidOf } from "../said.js";
import { amount, tick, whole } from "../words.js";

export function create(figure, change) {
  const reveal = html("button", { type: "button" }, "Name it");
  const report = html("div", { class: "report", role: "status" });
  figure.querySelector(".drawing").append(reveal, report);
  reveal.onclick = () => change({ shown: "yes" }, { done: true });
  let shown = null;

  return (scene) => {
    const found = said(scene);
    const open = found && isOpen(scene);
    reveal.hidden = !found || open;
    if (shown !== (open && found)) {
      shown = open && found;
      report.replaceChildren(...(shown ? told(shown) : []));
    }
    figure.querySelector("figcaption").textContent = twin(found, open);
  };
}

function told({ verdict, words, best, runner_up: next, notes }) {
  const parts = [html("p", { class: `verdict ${verdict}` }, words)];
  const known = best && verdict !== "unknown";
  if (known) {
    const rows = [["Encoding", html("code", {}, best.text)], ["Holds", form(best)], ["Left over", percent(best)]];
    parts.push(listed(rows));
    if (best.mistake) parts.push(...saidOf(best.mistake));
    parts.push(best.settings ? way(best) : html("p", { class: "hint" }, best.told));
  }
  if (next) parts.push(listed([["Runner-up", html("span", {}, ...second(next))]]));
  return [...parts, ...notes.map((note) => html("p", { class: "hint" }, note))];
}

function form({ form: what, scale, note }) {
  const times = scale === 1 ? "" : `, ${amount(scale)} times as large`;
  return `${what}${times}${note && `; ${note}`}`;
}

function percent({ residual }) {
  if (residual < 1e-9) return "nothing";
  if (residual > 1e-3) return `${tick(100 * residual)}% of the spread`;
  return `${residual.toExponential(1).replace("-", "−")} of the spread`;
}

function second(guess) {
  const wrong = guess.mistake ? ` with the mistake “${guess.mistake.name}”` : "";
  return [html("code", {}, guess.text), `${wrong}, leaving over ${percent(guess)}`];
}

function listed(rows) {
  return html("dl", { class: "said" }, ...rows.flatMap(([name, words]) => [html("dt", {}, name), html("dd", {}, words)]));
}

/** A link to the room Table with these settings; in a notebook, where none leads out, the Python. */
function way({ settings, text }) {
  if (inNotebook) {
    const python = `posenc.widget(${JSON.stringify(text)}, room="table")`;
    return html("p", {}, "A cell that opens it: ", html("code", {}, python));
  }
  const door = [...document.querySelectorAll("nav a")].find((link) => /\btable\b/.test(link.getAttribute("href")));
  const link = html("a", { class: "door", href: door.getAttribute("href") }, "Open it in the room Table");
  takeAlong(link, `#${new URLSearchParams({ v: 1, ...settings })}`);
  return html("p", {}, link);
}

function twin(found, open) {
  if (!found) return "Nothing is given, so 0 tables are named.";
  if (!open) return `${found.source} is not named yet: look at it and guess.`;
  const { source, verdict, words, best } = found;
  const what = best && verdict !== "unknown" ? ` It is ${best.text}, with ${percent(best)} left over.` : "";
  return `${source}, ${found.shape.map(whole).join(" by ")}: ${words}${what}`;
}
