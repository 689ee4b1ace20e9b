// Pairs of numbers that are the sine and the cosine of one angle.

/** The pairs of a table that have both: { pair, sin, cos }, with the numbers of their columns. */
export function pairsOf({ columns }) {
  const found = new Map();
  columns.forEach(([name, pair], column) => {
    if (pair >= 0 && name !== "zero") found.set(pair, { ...found.get(pair), pair, [name]: column });
  });
  return [...found.values()].filter(({ sin, cos }) => sin !== undefined && cos !== undefined);
}

/** Whether there is a pair at all; where settings leave none, its pictures step aside. */
export function hasPairs(recipe) {
  return pairsOf(recipe).length > 0;
}

/** Where the hand of a pair points in a row: { across, up }. */
export function handOf({ values, columns }, { sin, cos }, row) {
  const at = row * columns;
  return { across: values[at + sin], up: values[at + cos] };
}

/** The part of a turn that a hand has gone from twelve, clockwise. */
export function partOf({ across, up }) {
  const part = Math.atan2(across, up) / (2 * Math.PI);
  return part < 0 ? part + 1 : part;
}

/** Whether each pair has one speed that is known, so that its turns can be counted. */
export function countable({ frequencies, mistake }) {
  return Boolean(frequencies?.length) && !mistake;
}

/** How many turns a pair has made by a row, since its angle was zero. */
export function turnsOf(scene, { pair }, row) {
  const { recipe } = scene;
  return (coordinate(scene, pair, row) * recipe.frequencies[pair]) / (2 * Math.PI);
}

/** How many positions a pair takes for one turn. */
export function lengthOf({ frequencies }, { pair }) {
  return (2 * Math.PI) / frequencies[pair];
}

/** The number by which a pair turns: the position, or on a grid its coordinate on one axis. */
function coordinate({ recipe, span }, pair, row) {
  const { places, pair_axes: axes, offset = 0 } = recipe;
  if (places.length) return places[row][axes?.[pair] ?? 0];
  return span.start + row + offset;
}

/** What a turn is counted in. */
export function unitOf({ places }) {
  return places.length ? "steps" : "positions";
}

/** Whole numbers in a row as words: "0 to 5, 8". */
export function ranges(numbers) {
  const found = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  const words = found.map(([first, last]) => (first === last ? first : `${first} to ${last}`));
  return words.join(", ");
}
