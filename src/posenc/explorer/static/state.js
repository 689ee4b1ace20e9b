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
  if (control.options) {
    const known = control.options.map((option) => option.value);
    return known.includes(value) ? "" : `${control.label} must be ${known.join(" or ")}`;
  }
  const { min, max } = bounds(control, values);
  const fits = value >= min && value <= max && (control.step === "any" || Number.isInteger(value));
  const kind = control.step === "any" ? "a number" : "a whole number";
  return fits ? "" : `${control.label} must be ${kind} from ${min} to ${max}`;
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

/** Whether a hash holds settings, and is not the name of a place on the page. */
export function isSettings(hash) {
  return hash === "" || hash.includes("=");
}

/** Settings from a hash, and what could not be understood, each in words. */
export function read(hash, controls) {
  const values = defaults(controls);
  const problems = [];
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  if (given.size === 0) return { values, problems };
  if (given.get("v") !== VERSION) {
    return { values, problems: ["it was made for another version of this page"] };
  }
  // Ranges that depend on other settings are checked after those.
  const ordered = [...controls].sort((one, other) => Boolean(one.bounds) - Boolean(other.bounds));
  for (const control of ordered.filter(({ name }) => given.has(name))) {
    const text = given.get(control.name);
    const value = control.options ? text : numberFrom(text);
    const wrong = problem(control, value, values);
    if (wrong) problems.push(`${wrong}, not ${shown(text)}`);
    else values[control.name] = value;
  }
  if (given.has("waves")) {
    const text = given.get("waves");
    values.waves = columnsFrom(text);
    if (!values.waves) problems.push(`waves must be column numbers, not ${shown(text)}`);
  }
  const known = new Set(["v", "waves", ...controls.map(({ name }) => name)]);
  for (const name of new Set(given.keys())) {
    if (!known.has(name)) problems.push(`there is no setting ${shown(name)}`);
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
