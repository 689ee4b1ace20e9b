// Reads what packing.py made small.

/** The data in a text of `packed`. */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const all = new Uint8Array(await new Response(stream).arrayBuffer());
  const end = all.indexOf(10); // the line of JSON, and behind it the bytes of all floats
  const parts = JSON.parse(new TextDecoder().decode(all.subarray(0, end)));
  return whole(parts, all.subarray(end + 1));
}

/** The data in the parts of `pooled`. */
export function whole(parts, floats) {
  const made = [];
  const filled = (value) => {
    if (Array.isArray(value)) return value.map(filled);
    if (typeof value !== "object" || value === null) return value;
    if ("part" in value) return made[value.part];
    if ("floats" in value) return base64(floats, value.floats);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner)]));
  };
  for (const part of parts) made.push(filled(part));
  return made.at(-1);
}

/** Some of the numbers, whose first bytes stand together, and then their second ones. */
function base64(floats, [start, count]) {
  const all = floats.length / 4;
  let text = "";
  for (let number = start; number < start + count; number += 1) {
    for (let byte = 0; byte < 4; byte += 1) text += String.fromCharCode(floats[byte * all + number]);
  }
  return btoa(text);
}
