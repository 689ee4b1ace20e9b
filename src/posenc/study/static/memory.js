// What a reader answered: kept in this browser, or only as long as the page where that is forbidden.

const held = {};

/** What was kept under a name; an empty object at first. */
export function load(name) {
  try {
    return JSON.parse(localStorage.getItem(`posenc-${name}`)) ?? {};
  } catch {
    return held[name] ?? {};
  }
}

/** Keeps an object under a name. */
export function save(name, value) {
  held[name] = value;
  try {
    localStorage.setItem(`posenc-${name}`, JSON.stringify(value));
  } catch {
    // Storage can be forbidden.
  }
}

/** Forgets everything that was kept. */
export function forget() {
  for (const name of ["quiz", "cards"]) save(name, {});
}
