// Who answers for the library: the server; or, in a copy of the page, what was saved with it; or
// the kernel of a notebook.

import { ask as askKernel, tellHeight } from "./notebook.js";
import { find } from "./saved.js";

const copy = JSON.parse(document.getElementById("baked")?.textContent ?? "null");
const ALL = "for all of them install it with pip install 'posenc[explore]' and start posenc explore";
if (copy?.kind === "notebook") tellHeight();

/**
 * The reply to a question, as of `fetch`: `path` says what is asked, `query` about what. Refusals
 * are errors, whose message is for the visitor.
 */
export async function ask(path, query) {
  const reply = copy ? await copied(path, query) : await served(path, query);
  if (!reply.ok) throw new Error(await reply.text());
  return reply;
}

async function served(path, query) {
  try {
    return await fetch(`${path}?${new URLSearchParams(query)}`);
  } catch {
    throw new Error("posenc explore has stopped answering; is it still running?");
  }
}

async function copied(path, query) {
  const found = await find(copy, path, query);
  if (found) return found;
  if (copy.kind === "notebook") return askKernel(path, query);
  throw new Error(`This copy of the page holds some settings and not these; ${ALL}.`);
}
