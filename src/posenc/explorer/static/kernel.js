// Evaluates recipes. Every number of a method comes from the library; here are only sines,
// products and sums, in the order in which the library takes them.

const TURN = 2 * Math.PI;

/** The angle of a pair at a position: whole turns are dropped before anything is rounded. */
function angle([short, middle, long], position) {
  const coarse = position * short;
  const fine = position * middle;
  return (coarse - Math.round(coarse) + (fine - Math.round(fine)) + position * long) * TURN;
}

/** One number of a column at any position, whole or between two. */
export function wave(recipe, column, position) {
  const [name, pair] = recipe.columns[column];
  const at = angle(recipe.turns[pair], position + recipe.offset);
  return recipe.scale * { sin: Math.sin(at), cos: Math.cos(at), zero: 0 }[name];
}

/** How much a head adds to the score of a query and a key. */
export function bias(recipe, head, query, key) {
  const away = query - key;
  if (away === 0) return 0;
  const line = away > 0 ? recipe.behind : recipe.ahead;
  if (line === null) return -Infinity;
  const [start, step] = line;
  return recipe.slopes[head] * (start + step * Math.abs(away));
}

/** A whole table in float32, row by row, and the lowest number that it can show. */
export function table(recipe, { start, count, head }) {
  return recipe.kind === "bias" ? biases(recipe, count, head) : waves(recipe, start, count);
}

function waves(recipe, start, count) {
  const { turns, columns, scale, offset } = recipe;
  const found = {
    sin: new Float64Array(turns.length),
    cos: new Float64Array(turns.length),
    zero: new Float64Array(turns.length),
  };
  const sources = columns.map(([name]) => found[name]);
  const pairs = Int32Array.from(columns, ([, pair]) => pair);
  const values = new Float32Array(count * columns.length);
  let cell = 0;
  for (let row = 0; row < count; row += 1) {
    for (let pair = 0; pair < turns.length; pair += 1) {
      const at = angle(turns[pair], start + row + offset);
      found.sin[pair] = Math.sin(at);
      found.cos[pair] = Math.cos(at);
    }
    for (let column = 0; column < columns.length; column += 1) {
      values[cell] = scale * sources[column][pairs[column]];
      cell += 1;
    }
  }
  return { values, rows: count, columns: columns.length, lowest: -scale };
}

function biases(recipe, count, head) {
  const values = new Float32Array(count * count);
  let lowest = 0;
  for (let cell = 0; cell < values.length; cell += 1) {
    const key = cell % count;
    values[cell] = bias(recipe, head, (cell - key) / count, key);
    if (values[cell] < lowest && values[cell] > -Infinity) lowest = values[cell];
  }
  return { values, rows: count, columns: count, lowest };
}

/** A query or key turned to its position, in float32 as the library turns it. */
export function rotate(recipe, vector, position) {
  const { fround } = Math;
  const turned = Float32Array.from(vector);
  recipe.partners.forEach(([one, other], pair) => {
    const at = angle(recipe.turns[pair], position);
    const cos = fround(recipe.scale * Math.cos(at));
    const sin = fround(recipe.scale * Math.sin(at));
    turned[one] = fround(vector[one] * cos) - fround(vector[other] * sin);
    turned[other] = fround(vector[other] * cos) + fround(vector[one] * sin);
  });
  return turned;
}

/** The sum of products. */
export function dot(one, other) {
  return one.reduce((sum, value, place) => sum + value * other[place], 0);
}

/** Shares that add up to one, larger where the score is. */
export function softmax(scores) {
  const highest = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** How many positions a column needs for one turn. */
export function wavelength(recipe, column) {
  const [name, pair] = recipe.columns[column];
  return name === "zero" ? Infinity : TURN / recipe.frequencies[pair];
}
