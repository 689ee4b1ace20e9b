// The settings of a page as one plain object, and as the hash of its address:
//   #v=1&dim=128&position=7      what is left out has its default

const VERSION = "1";
const MOST_WAVES = 12;

/** The settings a page begins with. `waves` lists the columns to follow, or null for a choice. */
export function defaults(controls) {
  const values = { waves: null };
  for (const control of controls) values[control.name] = control.default;
  return values;
}

/** The range of a number, which can depend on other settings. */
export function bounds(control, values) {
  if (!control.bounds) return { min: control.min, max: control.max };
  const min = control.bounds.from ? (values[control.bounds.from] ?? 0) : 0;
  return { min, max: min + values[control.bounds.size] - 1 };
}

/** What is wrong with a value, in words, or "" if nothing is. */
export function problem(control, value, values) {
  if (value === nearest(control, value, values)) return "";
  if (control.options) return `${control.label} must be ${known(control).join(" or ")}`;
  const { min, max } = bounds(control, values);
  return `${control.label} must be ${kindOf(control)} from ${min} to ${max}`;
}

/** The valid value closest to a number; the present one where none is closer than others. */
export function nearest(control, value, values) {
  const present = values[control.name];
  if (control.options) return known(control).includes(value) ? value : present;
  if (!Number.isFinite(value)) return present;
  const { min, max } = bounds(control, values);
  const step = control.step ?? 1;
  const whole = step === "any" ? value : min + Math.round((value - min) / step) * step;
  return Math.min(Math.max(whole, min), max);
}

function known({ options }) {
  return options.map((option) => option.value);
}

function kindOf({ step = 1 }) {
  return { any: "a number", 1: "a whole number", 2: "an even number" }[step];
}

/** Settings that others depend on, moved into the ranges that these now have. */
export function settle(values, controls) {
  const settled = { ...values };
  for (const control of controls.filter((each) => each.bounds)) {
    const { min, max } = bounds(control, settled);
    settled[control.name] = Math.min(Math.max(settled[control.name], min), max);
  }
  return settled;
}

/** Settings from a hash, and what could not be understood, each in words. */
export function read(hash, controls) {
  const values = defaults(controls);
  const problems = [];
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  if ((given.get("v") ?? VERSION) !== VERSION) {
    return { values, problems: ["it was made for another version of this page"] };
  }
  // Ranges that depend on other settings are checked after those.
  const ordered = [...controls].sort((one, other) => Boolean(one.bounds) - Boolean(other.bounds));
  for (const control of ordered.filter(({ name }) => given.has(name))) {
    const text = given.get(control.name);
    const value = control.options ? text : numberFrom(text);
    const wrong = problem(control, value, values);
    if (wrong) problems.push(`${wrong}, not ${shown(text)}`);
    values[control.name] = nearest(control, value, values);
  }
  if (given.has("waves")) {
    const text = given.get("waves");
    values.waves = columnsFrom(text);
    if (!values.waves) problems.push(`waves must be column numbers, not ${shown(text)}`);
  }
  const names = new Set(["v", "waves", ...controls.map(({ name }) => name)]);
  for (const name of new Set(given.keys())) {
    if (!names.has(name)) problems.push(`there is no setting ${shown(name)}`);
  }
  return { values: settle(values, controls), problems };
}

/** The hash that `read` reads; empty when every setting has its default. */
export function write(values, controls) {
  const written = new URLSearchParams();
  for (const { name, default: usual } of controls) {
    if (values[name] !== usual) written.set(name, values[name]);
  }
  if (values.waves) written.set("waves", values.waves);
  const text = written.toString().replaceAll("%2C", ",");
  return text && `#v=${VERSION}&${text}`;
}

/** The encoding that the settings describe, as data for the library. */
export function encoding(kind, values, controls) {
  const fields = controls.filter((control) => control.field);
  return { kind, ...Object.fromEntries(fields.map(({ name }) => [name, values[name]])) };
}

/** A number as people type it; NaN for anything else. */
export function numberFrom(text) {
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : NaN;
}

function columnsFrom(text) {
  const columns = text.split(",").map(numberFrom);
  const fits = columns.length <= MOST_WAVES && columns.every((c) => Number.isInteger(c) && c >= 0);
  return fits ? [...new Set(columns)] : null;
}

function shown(text) {
  return `“${text.length > 30 ? `${text.slice(0, 30)}…` : text}”`;
}
