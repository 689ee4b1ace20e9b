// The settings form: built from the controls of the room and the encoding, it shows the settings
// and asks for changes.

import { create as createClassroom } from "./classroom.js";
import { html } from "./dom.js";
import { bounds, controlsOf, nearest, numberFrom, problem } from "./state.js";
import { whole } from "./words.js";

const DONE = { done: true };
const FEW = 4; // fields of an encoding that are always in sight
const roomy = matchMedia("(min-width: 56rem)"); // settings stand beside the pictures

/**
 * Makes the form. `change(changes, { done })` is called while a slider moves, and once more with
 * done when it rests; `complain(message)` when a field held nothing that can be drawn.
 */
export function create(form, page, { settings, extent, change, complain }) {
  const groups = form.querySelector("#groups");
  const encoding = form.querySelector("#encoding");
  encoding.onchange = () => change({ encoding: encoding.value }, DONE);
  const asked = html("p", { class: "asked", id: "asked" });
  groups.before(asked);
  const showClassroom = createClassroom(document.getElementById("classroom"), page, change);
  let fields = new Map(); // by name: { element, control, show }
  let built = "";
  const open = {}; // groups that were folded or unfolded

  function build(values) {
    const controls = controlsOf(page, values).filter(({ silent }) => !silent);
    const wanted = JSON.stringify(controls);
    if (wanted === built) return;
    built = wanted;
    const focused = nameOf(document.activeElement);
    fields = new Map(controls.map((control) => [control.name, fieldOf(control)]));
    groups.replaceChildren(...Object.entries(page.groups).flatMap(([group, heading]) => {
      const members = [...fields.values()].filter(({ control }) => control.group === group);
      if (!members.length) return [];
      return groupOf(group, heading, folded(members, values));
    }));
    if (focused) form.querySelector(focused)?.focus();
  }

  /** Elements of fields; what an encoding has beyond its first few can be unfolded. */
  function folded(members, values) {
    const ofEncoding = members.filter(({ control }) => control.path);
    const free = ofEncoding.filter(({ control }) => !control.when); // others follow one of these
    const rare = ofEncoding.slice(ofEncoding.indexOf(free[FEW]));
    const parts = members.map(({ element }) => element);
    if (free.length < FEW + 2) return parts;
    const hidden = rare.map(({ element }) => element);
    if (rare.some(({ control }) => values[control.name] !== control.default)) open.more = true;
    const heading = `More of its fields (${rare.length})`;
    const more = foldable("more", false, { class: "more" }, heading, hidden);
    parts.splice(parts.indexOf(hidden[0]), hidden.length, more);
    return parts;
  }

  /** A group that can be folded, but for the sliders that say where to look. */
  function groupOf(group, heading, parts) {
    const named = { class: `group ${group}` };
    if (group === "look") return html("fieldset", named, html("legend", {}, heading), ...parts);
    return foldable(group, roomy.matches, named, heading, parts);
  }

  /** Stays open or folded as the visitor left it. */
  function foldable(name, usual, attributes, heading, parts) {
    const fields = html("div", { class: "fields" }, ...parts);
    const details = html("details", attributes, html("summary", {}, heading), fields);
    details.open = open[name] ??= usual;
    details.ontoggle = () => {
      open[name] = details.open;
    };
    return details;
  }

  function fieldOf(control) {
    const asks = { settings, extent, change, complain };
    if (control.select) return { control, ...select(control, asks) };
    if (control.options) return { control, ...choice(control, asks) };
    return { control, ...(control.most ? text(control, asks) : number(control, asks)) };
  }

  return {
    show(values) {
      build(values);
      encoding.value = values.encoding;
      asked.textContent = values.ask;
      for (const { control, element, show } of fields.values()) {
        show(values);
        element.hidden = values.hide?.includes(control.name) ?? false;
      }
      encoding.parentElement.hidden = values.hide?.includes("encoding") ?? false;
      showClassroom(values);
    },
    /** What a screen reader says of a slider instead of its value. */
    describe(name, spoken) {
      fields.get(name)?.describe(spoken);
    },
    /** Labels that are the names of the table's rows and columns. */
    name({ axes }) {
      for (const { control, element } of fields.values()) {
        if (control.axis && axes) element.querySelector(".name").textContent = capital(axes[control.axis].name);
      }
    },
  };
}

/** A selector of the same part in a form that is built anew. */
function nameOf({ id, name, value }) {
  if (id) return `#${CSS.escape(id)}`;
  return name && `[name="${CSS.escape(name)}"][value="${CSS.escape(value)}"]`;
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function labelled(control) {
  const code = control.path ? [" ", html("code", {}, control.path.at(-1))] : [];
  return [html("span", { class: "name" }, control.label), ...code];
}

function choice(control, { change }) {
  const { name, options } = control;
  const hint = html("p", { class: "hint" });
  const radios = options.map(({ value }) => html("input", { type: "radio", name, value }));
  const labels = options.map(({ label }, at) => html("label", {}, radios[at], html("span", {}, label)));
  radios.forEach((radio, at) => {
    radio.onchange = () => change({ [name]: options[at].value }, DONE);
  });
  const legend = html("legend", {}, ...labelled(control));
  return {
    element: html("fieldset", { class: "choice" }, legend, ...labels, hint),
    show(values) {
      radios.forEach((radio, at) => {
        radio.checked = options[at].value === values[name];
        if (radio.checked) hint.textContent = options[at].hint ?? "";
      });
    },
  };
}

function select(control, { settings, change }) {
  const { name, options } = control;
  const hint = html("p", { class: "hint" });
  const offered = options.map(({ value, label }) => html("option", { value }, label));
  const field = html("select", { id: name }, ...offered);
  field.onchange = () => {
    const chosen = options[field.selectedIndex];
    const along = setAlong(chosen, settings()).map(({ name: other, to }) => [other, to]);
    change({ ...Object.fromEntries(along), [name]: chosen.value }, DONE);
  };
  return {
    element: html("div", { class: "control wide" }, html("label", { for: name }, ...labelled(control)), field, hint),
    show(values) {
      field.selectedIndex = options.findIndex(({ value }) => value === values[name]);
      options.filter(({ sets }) => sets).forEach((option) => {
        const sets = setAlong(option, values).length ? ` (sets ${option.says})` : "";
        offered[options.indexOf(option)].text = option.label + sets;
      });
      hint.textContent = options[field.selectedIndex]?.hint ?? "";
    },
  };
}

/** The settings that choosing an option changes, too: those that stand as they did at first. */
function setAlong({ sets = [] }, values) {
  return sets.filter(({ name, from }) => values[name] === from);
}

function text(control, { change }) {
  const { name, most } = control;
  const field = html("input", { type: "text", id: name, maxlength: most, spellcheck: "false" });
  field.oninput = () => change({ [name]: field.value }, { done: false });
  field.onchange = () => change({ [name]: field.value }, DONE);
  return {
    element: html("div", { class: "control wide" }, html("label", { for: name }, ...labelled(control)), field),
    show(values) {
      if (field.value !== values[name]) field.value = values[name];
    },
  };
}

function number(control, { settings, extent, change, complain }) {
  const { name, stops, unit = "", step = 1 } = control;
  const [id, sliderId, labelId] = [name, `${name}-slider`, `${name}-label`];
  const attributes = { inputmode: "decimal", "aria-describedby": "notice" };
  const input = html("input", { type: "number", id, step, ...attributes });
  const slider = html("input", { type: "range", id: sliderId, "aria-labelledby": labelId, step: stops ? 1 : step });
  input.onchange = () => {
    const value = numberFrom(input.value);
    const wrong = problem(control, value, settings(), extent());
    change({ [name]: nearest(control, value, settings(), extent()) }, DONE);
    if (wrong) complain(`${wrong}.`);
  };
  const slid = (done) => () => {
    const at = Number(slider.value);
    change({ [name]: stops ? stops[at] : at }, { done });
  };
  slider.oninput = slid(false);
  slider.onchange = slid(true);
  let spoken = null;
  const label = html("label", { for: id, id: labelId }, ...labelled(control));
  return {
    element: html("div", { class: "control" }, label, input, slider),
    show(values) {
      const value = values[name];
      const { min, max } = bounds(control, values, extent());
      const range = stops ? { min: 0, max: stops.length - 1 } : { min, max };
      Object.assign(slider, range, { value: stops ? stopFor(stops, value) : value });
      if (!spoken) slider.setAttribute("aria-valuetext", `${whole(value)} ${unit}`.trim());
      Object.assign(input, { min, max, value });
    },
    describe(words) {
      spoken = words;
      slider.setAttribute("aria-valuetext", words);
    },
  };
}

function stopFor(stops, value) {
  const after = stops.findIndex((stop) => stop >= value);
  if (after === -1) return stops.length - 1;
  return after > 0 && value - stops[after - 1] < stops[after] - value ? after - 1 : after;
}
