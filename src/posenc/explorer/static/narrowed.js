// Reading what the library says of narrow formats.

import { bias, rounded } from "./kernel.js";

/** Whole numbers as a format holds them; the browser's own is float64. */
export function held(numbers, name, { formats }) {
  return name in formats ? rounded(numbers, formats[name]) : numbers;
}

/** Levels of the error map, row by row: 0 no error, 255 nothing left; see `errorOf` for the rest. */
export function levels({ errors }, { format, cast }) {
  return Uint8Array.from(atob(errors[format][cast]), (letter) => letter.charCodeAt(0));
}

/** The error that a level stands for, to two digits: levels are no finer. */
export function errorOf(level) {
  return Number((10 ** ((level - 200) / 10)).toPrecision(2));
}

/** An error as one reads it. */
export function said(error) {
  if (error === null) return "nothing is left";
  if (error === 0) return "no error";
  if (error >= 0.001) return error.toLocaleString("en", { maximumSignificantDigits: 3 });
  const [digits, power] = error.toExponential(1).split("e");
  return `${digits === "1.0" ? "" : `${digits} × `}10${raised(Number(power))}`;
}

function raised(power) {
  const digits = [...String(Math.abs(power))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
  return `${power < 0 ? "⁻" : ""}${digits}`;
}

/** What the sliders read out: of a line, the bias at the distance they point to. */
export function heard(scene) {
  const { recipe, settings } = scene;
  if (recipe.kind !== "bias") return scene;
  const values = [bias(recipe, Math.min(settings.head, recipe.slopes.length - 1), settings.position, 0)];
  return { ...scene, span: { ...scene.span, start: settings.position }, values, columns: 1, row: 0, column: 0 };
}

/** How the page calls one of the choices of a control. */
export function labelOf(page, name, value) {
  return page.room.controls.find((control) => control.name === name).options.find((option) => option.value === value).label;
}
