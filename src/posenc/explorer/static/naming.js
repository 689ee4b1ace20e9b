// The table that is to be named: what the library said of a file, or of an example.

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
  let reply;
  try {
    const body = await blob.slice(0, MOST + 1).arrayBuffer(); // one more, which is refused in words
    const headers = { "content-type": "application/octet-stream" };
    reply = await fetch(`/data/name?${new URLSearchParams({ name })}`, { method: "POST", headers, body });
  } catch (error) {
    throw new Error(
      error.name === "TypeError"
        ? "posenc explore has stopped answering; is it still running?"
        : `${name || "The text"} cannot be opened: choose one file, not a folder.`,
    );
  }
  if (!reply.ok) throw new Error(await reply.text());
  return reply.json();
}

const MOST = 2 ** 24; // bytes, as the library reads
