// Questions that can be answered: each try brings the next variant, each choice has its reason.

import { html } from "../static/dom.js";
import { draw } from "./draw.js";
import { forget, load, save } from "./memory.js";

function start(quiz) {
  const progress = html("p", { class: "hint", role: "status" });
  const erase = html("button", { type: "button" }, "Forget my answers");
  erase.onclick = () => {
    forget();
    location.reload();
  };
  quiz.before(progress);
  quiz.after(html("p", { class: "buttons" }, erase));
  const questions = JSON.parse(quiz.dataset.questions);
  const keys = quiz.parentElement.querySelectorAll(".answers li");
  const answered = load("quiz");
  const report = () => {
    const right = questions.filter(({ id }) => answered[id] === "right").length;
    progress.textContent = `${right} of ${questions.length} answered.`;
  };
  for (const [at, question] of questions.entries()) {
    const place = quiz.querySelector(`[data-id="${question.id}"]`);
    const key = place.querySelector(".key");
    const shown = (variant) => {
      keys[at].innerHTML = variant.key; // rendered by the library
    };
    const done = (verdict) => {
      answered[question.id] = verdict === "right" ? verdict : (answered[question.id] ?? verdict);
      save("quiz", answered);
      report();
    };
    place.replaceChildren(key, interactive(question, `Question ${at + 1}`, { shown, done }));
  }
  report();
}

/** Where a room stands: in saved files their names have an ending. */
function address(after) {
  const [room, settings = ""] = after.split("#");
  return `../${room}${document.body.dataset.suffix ?? ""}#${settings}`;
}

/** A question as a form, with its verdict below; tells which variant is in sight, and how it went. */
function interactive(question, name, { shown, done }) {
  const { id, kind, variants, after } = question;
  const form = html("form", { autocomplete: "off", "aria-label": name });
  let turn = 0;
  const show = () => {
    const variant = variants[turn % variants.length];
    const { parts, judge } = KINDS[kind](variant, id);
    const asked = html("div", { class: "asked" });
    asked.innerHTML = variant.ask; // rendered by the library
    const verdict = html("div", { class: "verdict", role: "status" });
    const check = html("button", {}, "Check");
    const again = html("button", { type: "button", hidden: "" }, variants.length > 1 ? "Again, with new numbers" : "Again");
    again.onclick = () => {
      turn += 1;
      show();
      form.querySelector("input, select, button")?.focus();
    };
    const solve = html("button", { type: "button", hidden: "" }, "Show the answer");
    solve.onclick = () => {
      verdict.innerHTML = `<strong>Answer.</strong> ${variant.key}`;
    };
    form.onsubmit = (event) => {
      event.preventDefault();
      const { right, words } = judge();
      verdict.innerHTML = `<strong>${right ? "Right." : "Not yet."}</strong> ${words} ${right ? variant.why : ""}`;
      if (right && after) verdict.append(" ", html("a", { href: address(after) }, "See it in the explorer"));
      again.hidden = false;
      solve.hidden = right;
      done(right ? "right" : "tried");
    };
    shown(variant);
    form.replaceChildren(asked, ...parts, html("p", { class: "buttons" }, check, again, solve), verdict);
  };
  show();
  return form;
}

const KINDS = {
  choice: (variant, id) => options(variant, id, "radio"),
  several: (variant, id) => options(variant, id, "checkbox"),
  numeric,
  order,
  match,
  line: wrongLine,
  draw,
  table(variant, id) {
    const { parts, judge } = options(variant, id, "radio");
    return { parts: [heat(variant.table), ...parts], judge };
  },
};

function options({ options: written }, id, type, arranged = mixed) {
  const offered = arranged(written, id, ({ text }) => text);
  const boxes = offered.map((_, at) => html("input", { type, name: `${id}-choice`, value: at }));
  const labels = offered.map(({ text }, at) => {
    const words = html("span");
    words.innerHTML = text;
    return html("label", {}, boxes[at], words);
  });
  const judge = () => {
    const chosen = offered.filter((_, at) => boxes[at].checked);
    const right = offered.every((option, at) => option.right === boxes[at].checked);
    const reasons = type === "radio" ? chosen.map(({ why }) => why).join(" ") : each(chosen);
    // Reasons for right choices alone would not say why the whole is not right.
    const missing = !right && chosen.length && chosen.every((option) => option.right);
    const words = missing ? `Something is missing, and what is chosen is right. ${reasons}` : reasons;
    return { right, words: chosen.length ? words : "Nothing is chosen." };
  };
  return { parts: [html("div", { class: "options" }, ...labels)], judge };
}

/** Every choice beside its reason, as nobody could tell several reasons apart. */
function each(chosen) {
  return `<ul>${chosen.map(({ text, why }) => `<li>${text}: ${why}</li>`).join("")}</ul>`;
}

function numeric({ answer, tolerance, wrong }, id) {
  const field = html("input", { type: "text", inputmode: "decimal", id: `${id}-number` });
  const label = html("label", { for: `${id}-number` }, "Your number");
  const judge = () => {
    const given = numberFrom(field.value);
    if (Number.isNaN(given)) return { right: false, words: "Write a number, such as 0.25." };
    if (Math.abs(given - answer) <= tolerance) return { right: true, words: "" };
    const known = wrong.find((other) => Math.abs(given - other.answer) <= tolerance);
    return { right: false, words: known?.why ?? "No known mistake leads to this number." };
  };
  return { parts: [html("p", { class: "control" }, label, field)], judge };
}

/** A number as people write it, with thousands apart or not; NaN for anything else. */
function numberFrom(text) {
  const plain = text.trim().replace("−", "-");
  if (!plain) return NaN;
  const grouped = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain);
  return Number(grouped ? plain.replaceAll(",", "") : plain.replace(",", "."));
}

function order({ items }, id) {
  const list = html("ol", { class: "sortable" });
  const rows = mixed(items, id).map((item) => {
    const words = html("span");
    words.innerHTML = item;
    const row = html("li", {}, words);
    row.item = item;
    for (const [name, step] of [["up", -1], ["down", 1]]) {
      const button = html("button", { type: "button", "aria-label": `Move ${words.textContent} ${name}` }, step < 0 ? "↑" : "↓");
      button.onclick = () => {
        const other = step < 0 ? row.previousElementSibling : row.nextElementSibling;
        if (step < 0) other?.before(row);
        else other?.after(row);
        button.focus();
      };
      row.append(button);
    }
    return row;
  });
  list.append(...rows);
  const judge = () => {
    const wrong = [...list.children].findIndex(({ item }, at) => item !== items[at]);
    return { right: wrong < 0, words: wrong < 0 ? "" : `Place ${wrong + 1} is the first that is not right.` };
  };
  return { parts: [list], judge };
}

function match({ pairs }, id) {
  const others = mixed(pairs.map(([, other]) => other), id);
  const fields = pairs.map(([one], at) => {
    const name = `${id}-match-${at}`;
    const label = html("label", { for: name });
    label.innerHTML = one;
    const offered = others.map((other) => html("option", { value: other }, plain(other)));
    return html("p", { class: "control" }, label, html("select", { id: name }, html("option", { value: "" }, "choose"), ...offered));
  });
  const judge = () => {
    const wrong = pairs.filter(([, other], at) => fields[at].querySelector("select").value !== other);
    const list = wrong.map(([one]) => `<li>${one}</li>`).join("");
    return { right: !wrong.length, words: wrong.length ? `These do not fit: <ul>${list}</ul>` : "" };
  };
  return { parts: fields, judge };
}

function wrongLine({ lines, wrong }, id) {
  const why = "This line is right.";
  const offered = lines.map((_, at) => ({ text: "", right: at === wrong, why: at === wrong ? "" : why }));
  const made = options({ options: offered }, id, "radio", (written) => written);
  made.parts[0].querySelectorAll("span").forEach((span, at) => span.replaceWith(html("code", {}, lines[at])));
  return made;
}

function heat(table) {
  const canvas = html("canvas", { width: table[0].length, height: table.length, role: "img", "aria-label": "A table as a picture: its numbers follow" });
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  table.forEach((row, y) => row.forEach((value, x) => {
    context.globalAlpha = Math.min(Math.abs(value), 1);
    context.fillStyle = style.getPropertyValue(value < 0 ? "--minus" : "--plus");
    context.fillRect(x, y, 1, 1);
  }));
  const lines = table.slice(0, 3).map((row) => html("tr", {}, ...row.slice(0, 8).map((value) => html("td", {}, String(value)))));
  const numbers = html("details", {}, html("summary", {}, "Its first numbers"), html("table", {}, ...lines));
  return html("div", { class: "heat" }, canvas, numbers);
}

/** The same order each time for the same question, but not the one in which it was written. */
function mixed(items, id, textOf = String) {
  const weight = (item) =>
    [...`${id}${textOf(item)}`].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 1009, 7);
  const sorted = [...items].sort((one, other) => weight(one) - weight(other));
  return sorted.every((item, at) => item === items[at]) ? sorted.reverse() : sorted;
}

function plain(markup) {
  return html("span", {}, new DOMParser().parseFromString(markup, "text/html").body.textContent).textContent;
}

for (const quiz of document.querySelectorAll(".quiz")) start(quiz);
