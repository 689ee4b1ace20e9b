// The settings of a page as one plain object, and as the hash of its address:
//   #v=1&encoding=rotary&dim=128&position=7      what is left out has its default

const VERSION = "1";
const MOST_WAVES = 12;
const MANY = 8; // choices that a message does not list
const LONGEST = 300; // characters of a teacher's question

// What every room knows beside its controls.
const ALWAYS = {
  waves: { default: null, read: columnsFrom, write: String, what: "column numbers" },
  hide: { default: null, read: namesFrom, write: String, what: "names of settings" },
  ask: { default: "", read: (text) => text.slice(0, LONGEST), write: String, what: "a text" },
};

/** The controls of a room for one encoding, those left out that its other settings make idle. */
export function controlsOf(page, values) {
  const method = page.methods[values.encoding];
  const fits = ({ needs }) => !needs || method.tags.includes(needs);
  const all = [...page.room.controls.filter(fits), ...method.controls];
  const idle = ({ when = {} }) =>
    Object.entries(when).some(([name, value]) => ![value].flat().includes(values[name] ?? ""));
  return all.filter((control) => !idle(control));
}

/** The settings a page begins with. */
export function defaults(page, kind = page.room.first) {
  const values = { encoding: kind };
  for (const [name, { default: usual }] of Object.entries(ALWAYS)) values[name] = usual;
  const { controls } = page.methods[kind];
  for (const control of [...page.room.controls, ...controls]) values[control.name] = control.default;
  return kind === page.room.first ? { ...values, ...page.room.begins } : values;
}

/** The range of a number, which can depend on other settings and on the table in sight. */
export function bounds(control, values, extent) {
  if (!control.bounds) return { min: control.min, max: control.max };
  const min = values[control.bounds.from] ?? 0;
  const size = extent[control.bounds.size] ?? values[control.bounds.size] ?? Infinity;
  return { min, max: min + size - 1 };
}

/** What is wrong with a value, in words, or "" if nothing is. */
export function problem(control, value, values, extent) {
  if (value === nearest(control, value, values, extent)) return "";
  const label = control.label;
  if (control.options) return `${label} must be ${offered(control)}`;
  if (control.most) return `${label} must have at most ${control.most} characters`;
  const { min, max } = bounds(control, values, extent);
  return `${label} must be ${kindOf(control)} ${max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`}`;
}

/** The valid value closest to a given one; the present one where none is closer than others. */
export function nearest(control, value, values, extent) {
  const present = values[control.name];
  if (control.options) return known(control).includes(value) ? value : present;
  if (control.most) return String(value).slice(0, control.most);
  if (!Number.isFinite(value)) return present;
  const { min, max } = bounds(control, values, extent);
  const step = control.step ?? 1;
  const whole = step === "any" ? value : min + Math.round((value - min) / step) * step;
  return Math.min(Math.max(whole, min), max);
}

function known({ options }) {
  return options.map((option) => option.value);
}

function offered(control) {
  const values = known(control).filter(Boolean);
  return values.length > MANY ? `one of its ${values.length} choices` : values.join(" or ");
}

function kindOf({ step = 1 }) {
  return { any: "a number", 1: "a whole number", 2: "an even number" }[step] ?? `a multiple of ${step}`;
}

/** Settings that others depend on, moved into the ranges that these now have. */
export function settle(values, page, extent) {
  const settled = { ...values };
  if ("from" in settled && !controlsOf(page, values).some(({ name }) => name === "from")) settled.from = 0;
  for (const control of controlsOf(page, values).filter((each) => each.bounds)) {
    const { min, max } = bounds(control, settled, extent);
    settled[control.name] = Math.min(Math.max(settled[control.name], min), max);
  }
  return settled;
}

/** Settings from a hash, and what could not be understood, each in words. */
export function read(hash, page) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const problems = [];
  if ((given.get("v") ?? VERSION) !== VERSION) {
    return { values: defaults(page), problems: ["it was made for another version of this page"] };
  }
  const kind = given.get("encoding") ?? page.room.first;
  const shown = Object.hasOwn(page.methods, kind);
  if (!shown) problems.push(`this room does not show the encoding ${quoted(kind)}`);
  const values = defaults(page, shown ? kind : page.room.first);
  // A setting can switch others on, so each round may find more to read.
  const done = new Set(["v", "encoding"]);
  for (let control; (control = next(page, values, given, done)); ) {
    done.add(control.name);
    take(control, given.get(control.name), values, problems);
  }
  for (const [name, { read: reading, what }] of Object.entries(ALWAYS)) {
    if (!given.has(name)) continue;
    done.add(name);
    values[name] = reading(given.get(name));
    if (values[name] === null) problems.push(`${name} must be ${what}, not ${quoted(given.get(name))}`);
  }
  for (const name of new Set(given.keys())) {
    if (shown && !done.has(name) && !passing(name, page)) problems.push(`there is no setting ${quoted(name)}`);
  }
  return { values: settle(values, page, {}), problems };
}

/** The next control to read; those whose range depends on others come last. */
function next(page, values, given, done) {
  const left = controlsOf(page, values).filter(({ name }) => given.has(name) && !done.has(name));
  return left.find((control) => !control.bounds) ?? left[0];
}

function take(control, text, values, problems) {
  const value = control.options || control.most ? text : numberFrom(text);
  const wrong = problem(control, value, values, {});
  if (wrong) problems.push(`${wrong}, not ${quoted(text)}`);
  values[control.name] = nearest(control, value, values, {});
}

/** Whether a setting belongs to another room, from which a link brought it along. */
function passing(name, page) {
  return page.elsewhere.includes(name);
}

/** The hash that `read` reads; empty when all is as usual, or `always` with the encoding. */
export function write(values, page, { always = false } = {}) {
  const written = new URLSearchParams();
  if (always || values.encoding !== page.room.first) written.set("encoding", values.encoding);
  const usual = defaults(page, values.encoding);
  for (const { name } of controlsOf(page, values)) {
    if (values[name] !== usual[name]) written.set(name, values[name]);
  }
  for (const [name, always] of Object.entries(ALWAYS)) {
    if (values[name] !== always.default) written.set(name, always.write(values[name]));
  }
  const text = written.toString().replaceAll("%2C", ",");
  return text && `#v=${VERSION}&${text}`;
}

/** The encoding that the settings describe, as data for the library. */
export function encoding(values, page) {
  const data = structuredClone(page.methods[values.encoding].data);
  for (const { name, path, options } of controlsOf(page, values).filter((each) => each.path)) {
    const chosen = options?.find(({ value }) => value === values[name]);
    put(data, path, chosen && "data" in chosen ? chosen.data : values[name]);
  }
  return data;
}

function put(data, path, value) {
  const inner = path.slice(0, -1).reduce((part, name) => part[name], data);
  inner[path.at(-1)] = structuredClone(value);
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

function namesFrom(text) {
  const names = text.split(",");
  return names.every((name) => /^[a-z0-9_.]+$/.test(name)) ? names : null;
}

function quoted(text) {
  return `“${text.length > 30 ? `${text.slice(0, 30)}…` : text}”`;
}
