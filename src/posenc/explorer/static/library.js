// Who answers for the library: the server; or, in a copy of the page, what was saved with it; or
// the kernel of a notebook.

import { ask as askKernel, tellHeight } from "./notebook.js";
import { find } from "./saved.js";

const copy = JSON.parse(document.getElementById("baked")?.textContent ?? "null");
const ALL = "for all of them install it with pip install 'posenc[explore]' and start posenc explore";
const inNotebook = copy?.kind === "notebook";
if (inNotebook) tellHeight();

/** Who reads the files of a visitor. */
export const READER = inNotebook ? "the kernel of this notebook" : "posenc on this machine";

/**
 * The reply to a question, as of `fetch`: `path` says what is asked, `query` about what. Refusals
 * are errors, whose message is for the visitor.
 */
export async function ask(path, query) {
  const reply = copy ? await copied(path, query) : await served(path, query);
  return accepted(reply);
}

/** The reply to a question about the bytes of a file. */
export async function hand(path, query, body) {
  if (inNotebook) return accepted(await askKernel(path, query, body));
  const headers = { "content-type": "application/octet-stream" };
  return accepted(await served(path, query, { method: "POST", headers, body }));
}

async function accepted(reply) {
  if (!reply.ok) throw new Error(await reply.text());
  return reply;
}

async function served(path, query, options) {
  try {
    return await fetch(`${path}?${new URLSearchParams(query)}`, options);
  } catch {
    throw new Error("posenc explore has stopped answering; is it still running?");
  }
}

async function copied(path, query) {
  const found = await find(copy, path, query);
  if (found) return found;
  if (inNotebook) return askKernel(path, query);
  throw new Error(`This copy of the page holds some settings and not these; ${ALL}.`);
}
