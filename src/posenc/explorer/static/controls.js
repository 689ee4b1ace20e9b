// The settings form: its fields show the settings, and ask for changes.

import { bounds, nearest, numberFrom, problem } from "./state.js";
import { whole } from "./words.js";

const DONE = { done: true };

/**
 * Connects the form. `change(changes, { done })` is called while a slider moves, and once more
 * with done when it rests; `complain(message)` when a field held nothing that can be drawn.
 */
export function connect(form, controls, { settings, change, complain }) {
  const fields = controls.map(field);
  const described = new Set(); // sliders that say more than their value

  function field(control) {
    return control.options ? choice(control) : number(control);
  }

  function choice(control) {
    const radios = [...form.querySelectorAll(`input[name="${control.name}"]`)];
    const hint = form.querySelector(`#${control.name}-hint`);
    for (const radio of radios) {
      radio.onchange = () => change({ [control.name]: radio.value }, DONE);
    }
    return (values) => {
      for (const radio of radios) radio.checked = radio.value === values[control.name];
      hint.textContent = control.options.find((o) => o.value === values[control.name]).hint;
    };
  }

  function number(control) {
    const input = form.querySelector(`#${control.name}`);
    const slider = form.querySelector(`#${control.name}-slider`);
    const { stops } = control;
    input.onchange = () => {
      const value = numberFrom(input.value);
      const wrong = problem(control, value, settings());
      change({ [control.name]: nearest(control, value, settings()) }, DONE);
      if (wrong) complain(`${wrong}.`);
    };
    const slid = (done) => () => {
      const at = Number(slider.value);
      change({ [control.name]: stops ? stops[at] : at }, { done });
    };
    slider.oninput = slid(false);
    slider.onchange = slid(true);
    return (values) => {
      const value = values[control.name];
      const { min, max } = bounds(control, values);
      const range = stops ? { min: 0, max: stops.length - 1 } : { min, max };
      Object.assign(slider, range, { value: stops ? stopFor(stops, value) : value });
      if (!described.has(control.name)) say(slider, `${whole(value)} ${control.unit}`.trim());
      Object.assign(input, { min, max, value });
    };
  }

  return {
    show(values) {
      for (const update of fields) update(values);
    },
    /** What a screen reader says of a slider instead of its value. */
    describe(name, text) {
      described.add(name);
      say(form.querySelector(`#${name}-slider`), text);
    },
  };
}

function say(slider, text) {
  slider.setAttribute("aria-valuetext", text);
}

function stopFor(stops, value) {
  const after = stops.findIndex((stop) => stop >= value);
  if (after === -1) return stops.length - 1;
  return after > 0 && value - stops[after - 1] < stops[after] - value ? after - 1 : after;
}
