// Links for a class: a question above the settings, and settings that the link hides.

import { html } from "./dom.js";
import { controlsOf } from "./state.js";

const LONGEST = 300; // characters of a question

/**
 * Connects the part of the panel that makes such links. `change` puts question and hidden settings
 * into the address, from where "Copy link" takes them.
 */
export function create(details, page, change) {
  const question = html("input", { type: "text", id: "ask", maxlength: LONGEST });
  const choices = html("fieldset", { class: "hides" });
  const all = html("button", { type: "button" }, "Show all settings");
  const label = html("label", { for: "ask" }, "A question for your class");
  details.append(html("div", { class: "control wide" }, label, question), choices, all);
  question.onchange = () => change({ ask: question.value }, { done: true });
  all.onclick = () => change({ hide: null }, { done: true });
  let offered = "";

  return (values) => {
    question.value = values.ask;
    all.hidden = !values.hide;
    const fields = controlsOf(page, values).filter(({ silent }) => !silent);
    const controls = [{ name: "encoding", label: "Encoding" }, ...fields];
    const state = JSON.stringify(controls.map(({ name }) => name));
    if (state !== offered) {
      offered = state;
      choices.replaceChildren(html("legend", {}, "Hide"), ...controls.map(choice));
    }
    for (const box of choices.querySelectorAll("input")) {
      box.checked = values.hide?.includes(box.value) ?? false;
    }
  };

  function choice({ name, label: words }) {
    const box = html("input", { type: "checkbox", value: name });
    box.onchange = () => {
      const hidden = [...choices.querySelectorAll("input:checked")].map(({ value }) => value);
      change({ hide: hidden.length ? hidden : null }, { done: true });
    };
    return html("label", {}, box, words);
  }
}
