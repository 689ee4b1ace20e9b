// The page in a notebook: asks the kernel what it would ask the server, and tells how high it is.
// widget.js, around the frame that the page stands in, passes all of it on.

const PATIENCE = 20_000; // milliseconds that a busy kernel may take
const SILENT =
  "The kernel of this notebook does not answer, and this was not saved in the notebook. Let the " +
  "kernel finish what it does, or start it and run the cell of this room again.";
const waiting = new Map(); // by name of the question: what to do with the answer

addEventListener("message", ({ data, source }) => {
  if (source !== parent || !waiting.has(data?.answers)) return;
  waiting.get(data.answers)(new Response(data.body, { status: data.status }));
  waiting.delete(data.answers);
});

/** The kernel's reply to a question; `body` holds the bytes of the file that it is about. */
export function ask(path, query, body) {
  // A notebook can show a widget twice, and the kernel's answers come to both.
  const question = String(Math.random());
  const texts = Object.fromEntries(new URLSearchParams(query));
  parent.postMessage({ question, path, query: texts, body }, "*");
  return new Promise((done, failed) => {
    waiting.set(question, done);
    setTimeout(() => failed(new Error(SILENT)), PATIENCE);
  });
}

/** Calls `changed` with settings that the notebook chooses. */
export function listen(changed) {
  addEventListener("message", ({ data, source }) => {
    if (source === parent && "settings" in data) changed(data.settings);
  });
}

/** Lets the frame be as high as the page. */
export function tellHeight() {
  const tell = () => parent.postMessage({ height: Math.ceil(document.body.scrollHeight) }, "*");
  new ResizeObserver(tell).observe(document.body);
}
