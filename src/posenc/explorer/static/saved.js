// What was saved with a copy of the page: by kind of encoding a shelf of recipes, of fingerprints of
// the library's tables, and of answers.

import { table } from "./kernel.js";
import { unpacked, whole } from "./packing.js";

const shelves = new Map(); // by kind: promises
let inside = null; // the shelves that stand in the page itself

/** The reply to a question if it was saved, else null. */
export async function find(copy, path, { spec, mistake = "", ...settings }) {
  const { kind } = JSON.parse(spec);
  if (!shelves.has(kind)) shelves.set(kind, fetched(copy, kind));
  const shelf = await shelves.get(kind);
  if (!shelf) return null;
  if (path.startsWith("/data/answer/")) {
    const answers = shelf.answers[path.split("/").at(-1)] ?? [];
    const asked = Object.entries(mistake ? { mistake, ...settings } : settings);
    const found = answers.find((one) => same(one.spec, spec) && holds(one.settings, asked));
    return found ? Response.json(found.answer) : null;
  }
  const alike = shelf.recipes.filter((one) => same(one.spec, spec) && one.mistake === mistake);
  // Where the rest can be asked for, a recipe must be for just this part of the table.
  const part = copy.kind === "notebook" ? ["start", "count", "head"] : ["head"];
  const found = alike.find(({ span }) => part.every((name) => fits(span[name], settings[name])));
  if (!found) return null;
  if (path === "/data/table") return copy.kind === "notebook" ? null : checked(found, settings);
  return Response.json({ ...found.recipe, held: found.span });
}

async function fetched({ kind: copied }, kind) {
  if (copied !== "folder") {
    inside ??= unpacked(document.getElementById("numbers").textContent);
    return (await inside)[kind];
  }
  try {
    return whole(await (await fetch(`data/${kind}.json`)).json());
  } catch {
    shelves.delete(kind);
    throw new Error(`data/${kind}.json of this copy could not be read; try again.`);
  }
}

function fits(held, asked = 0) {
  return held === undefined || held === asked;
}

function same(data, text) {
  return JSON.stringify(data) === text;
}

/** Whether an answer is for what was asked; what a question leaves out is as it is at first. */
function holds(settings, asked) {
  return asked.every(([name, value]) => settings[name] === String(value));
}

/** The library's table: ours, if it has the SHA-256 that the library's has. */
async function checked({ recipe, span, rows, sums }, asked) {
  const { start, count, head } = { ...asked, ...span };
  if (!crypto.subtle) return refused("The numbers are compared only at https addresses and from disk.");
  if (start !== 0 || count !== rows || !(head in sums || "" in sums)) {
    return refused(`This copy can compare the first ${rows} rows; show just those.`);
  }
  const { values } = table(recipe, { start, count, head });
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", values));
  const sum = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (sum === (sums[head] ?? sums[""])) return new Response(values);
  return refused("The numbers of this table differ from the library's: their SHA-256 is another one.");
}

function refused(words) {
  return new Response(words, { status: 400 });
}
