// The table that is to be named: what the library said of a file, or of an example.

import { bytes } from "./dropped.js";
import { hand } from "./library.js";

const handed = { said: null };

/** Keeps what was said of a file or a text; null forgets it. */
export function keep(said) {
  handed.said = said;
}

/** What is said of the table in question; null where none was given. */
export function said({ answer, settings }) {
  return settings.example ? answer ?? null : handed.said;
}

/** Whether its name is to be seen: of an example one is to guess first. */
export function isOpen({ settings }) {
  return !settings.example || settings.shown === "yes";
}

/** What the library says of a table, given as bytes. */
export async function ask(blob, name) {
  const body = await bytes(blob.slice(0, MOST + 1), name); // one more, which is refused in words
  const reply = await hand("/data/name", { name }, body);
  return reply.json();
}

const MOST = 2 ** 24; // bytes, as the library reads
