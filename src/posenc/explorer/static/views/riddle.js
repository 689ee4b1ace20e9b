// A mistake is hidden: the visitor names it by its symptoms and is told whether and why.

import { html } from "../dom.js";
import { isRiddle, pair } from "../mistaken.js";
import { said } from "../said.js";
import { download, file, npy } from "../save.js";
import { decimal, whole } from "../words.js";

const CASES = 9999;
const KEY = "posenc-cases"; // solved ones, kept in this browser alone where it lets us
const CHOOSE = "choose …";

export function create(figure, change, page) {
  const drawing = figure.querySelector(".drawing");
  if (page.offline) {
    drawing.append(html("p", {}, "Riddles need the library: start posenc explore."));
    return () => {
      figure.querySelector("figcaption").textContent = "0 mistakes are hidden in pages that were saved.";
    };
  }
  const hide = html("button", { type: "button" });
  const choices = html("select", { id: "diagnosis" });
  const name = html("p", { class: "control" }, html("label", { for: "diagnosis" }, "Which mistake is it?"), choices);
  const words = ["This is it", "Tell me", "Save the wrong table as NPY", "Put the case away", "Switch it on"];
  const [answer, tell, take, leave, on] = words.map((each) => html("button", { type: "button" }, each));
  const open = html("div", { class: "open" }, name, html("p", { class: "buttons" }, answer, tell, take, leave));
  const verdict = html("p", { class: "verdict", role: "status" });
  const reason = html("div", { class: "told" });
  const count = html("p", { class: "hint" });
  drawing.append(html("p", { class: "buttons" }, hide), open, verdict, reason, html("p", {}, on), count);

  const solved = remembered();
  let scene = null;
  const ask = (changes) => change(changes, { done: true });
  hide.onclick = () => ask({ case: another(scene.settings.case), mistake: "", guess: "", told: "no" });
  leave.onclick = () => ask({ case: 0, guess: "", told: "no" });
  on.onclick = () => ask({ mistake: scene.answer.mistake.name, case: 0, guess: "", told: "no" });
  tell.onclick = () => ask({ told: "yes" });
  answer.onclick = () => {
    if (choices.value) ask({ guess: choices.value });
    else verdict.textContent = "Choose one of the mistakes first.";
  };
  choices.onchange = () => {
    verdict.textContent = "";
  };
  take.onclick = () => {
    const { wrong } = pair(scene);
    download(file(npy(wrong), "application/octet-stream"), `case-${scene.settings.case}.npy`);
  };

  return (given) => {
    const { settings, answer: known } = given;
    const fresh = scene?.answer !== known;
    scene = given;
    const running = isRiddle(settings) && Boolean(known.table);
    hide.textContent = running ? "Hide another mistake" : "Hide a mistake";
    open.hidden = !running;
    on.parentElement.hidden = !running || !known.mistake;
    if (fresh) {
      offer(choices, known.choices, settings.guess);
      verdict.textContent = running ? judgement(given) : "";
      reason.replaceChildren(...(running ? explained(given) : []));
      if (running && known.judged?.right) keep(solved, given);
    }
    count.textContent = solved.size ? `Solved in this browser: ${whole(solved.size)}.` : "";
    figure.querySelector("figcaption").textContent = twin(given, running);
  };
}

/** A number of a case that is not the present one. */
function another(present) {
  const drawn = 1 + Math.floor(Math.random() * (CASES - 1));
  return drawn < present ? drawn : drawn + 1;
}

function offer(choices, mistakes, guess) {
  const options = mistakes.map(({ name }) => html("option", { value: name }, name));
  choices.replaceChildren(html("option", { value: "" }, CHOOSE), ...options);
  choices.value = guess;
  if (choices.selectedIndex < 0) choices.value = "";
}

function judgement({ settings, answer: { judged, mistake } }) {
  if (judged?.right) {
    const same = judged.mistake.name === mistake.name ? "" : ` “${mistake.name}” was meant, which makes the same numbers.`;
    return `Yes: it is “${judged.mistake.name}”.${same}`;
  }
  const no = judged ? `No, it is not “${judged.mistake.name}”.` : "";
  return [no, settings.told === "yes" ? `It is “${mistake.name}”.` : ""].filter(Boolean).join(" ");
}

/** How the numbers of a wrong guess differ from those in sight. */
function would(parts) {
  if (parts.shapes) return "It would give a table of another shape.";
  const most = parts.most === null ? "" : `, by up to ${decimal(parts.most)}`;
  return `Its numbers would differ from these in ${whole(parts.cells)} of ${whole(parts.of)} places${most}, first at ${whole(parts.first)}.`;
}

/** The reason: of the mistake if it is open, else what the guess would have done. */
function explained({ answer: { mistake, judged, identity }, got }) {
  if (mistake) return [...said(mistake), html("p", {}, identified(identity, got.main.recipe.text))];
  if (!judged) return [];
  return [html("p", {}, would(judged.parts)), html("p", { class: "hint" }, `“${judged.mistake.name}”: ${judged.mistake.sentence}`)];
}

function identified(identity, own) {
  if (!identity) return "posenc.identify is not asked about tables as wide as this one.";
  const { rows, known, text, mistake } = identity;
  const given = `posenc.identify, given the first ${whole(rows)} positions,`;
  if (!known) return `${given} does not recognise it.`;
  if (mistake) return `${given} says: ${text}, with the mistake “${mistake}”.`;
  if (text === own) return `${given} finds nothing wrong: there it does not show.`;
  return `${given} takes it for ${text}, which is right by itself but is not what was meant.`;
}

function twin({ settings, answer: { choices, judged, mistake } }, running) {
  const known = `${whole(choices.length)} mistake${choices.length === 1 ? "" : "s"}`;
  if (settings.case && settings.mistake) return `Case ${whole(settings.case)} waits until the mistake above is switched off.`;
  if (!running) return `No mistake is hidden; there are ${known} to choose from.`;
  const state = mistake ? `it is “${mistake.name}”` : judged ? "not named yet" : "not guessed yet";
  return `Case ${whole(settings.case)}: one of ${known} is hidden in the wrong table; ${state}.`;
}

// What was solved

function remembered() {
  try {
    return new Set(JSON.parse(localStorage.getItem(KEY)) ?? []);
  } catch {
    return new Set();
  }
}

function keep(solved, { settings, got }) {
  solved.add(`${got.main.recipe.text} ${settings.case}`);
  try {
    localStorage.setItem(KEY, JSON.stringify([...solved]));
  } catch {
    // It counts on this page all the same.
  }
}
