// Where pictures come from: recipes from the library, tables from the worker.

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const known = { text: null, recipe: null };

/** The recipe of an encoding; an Error with the library's own words if there is none. */
async function recipeOf(encoding) {
  const text = JSON.stringify(encoding);
  if (known.text === text) return known.recipe;
  const answer = await ask("/recipe", { spec: text });
  return Object.assign(known, { text, recipe: await answer.json(), fresh: true }).recipe;
}

/** The recipe and the table of one picture. One at a time: whoever asks waits for the answer. */
export async function picture(encoding, span) {
  const recipe = await recipeOf(encoding);
  const made = new Promise((done, failed) => {
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = () => failed(new Error("the table could not be made"));
  });
  worker.postMessage({ recipe: known.fresh ? recipe : null, span });
  known.fresh = false;
  return { recipe, span, ...(await made) };
}

/** The same table as the library itself makes it. */
export async function libraryTable(encoding, span) {
  const answer = await ask("/table", { spec: JSON.stringify(encoding), ...span });
  return new Float32Array(await answer.arrayBuffer());
}

async function ask(path, query) {
  let answer;
  try {
    answer = await fetch(`${path}?${new URLSearchParams(query)}`);
  } catch {
    throw new Error("posenc explore has stopped answering; is it still running?");
  }
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}
