// Evaluates recipes. Every number of a method comes from the library; here are only sines,
// products, sums and looking up, in the order in which the library takes them.

const TURN = 2 * Math.PI;

/** A whole picture in float32, row by row, with the lowest and highest number it can show. */
export function table(recipe, span) {
  return TABLES[recipe.kind](recipe, span);
}

const TABLES = { waves, bias: pairwise, gaps: pairwise, array };

// Waves: any position, whole or between two

/** The angle of a pair at a position: whole turns are dropped before anything is rounded. */
function angle([short, middle, long], position) {
  const coarse = position * short;
  const fine = position * middle;
  return (coarse - Math.round(coarse) + (fine - Math.round(fine)) + position * long) * TURN;
}

/** What a pair is multiplied with at a position; for keys the inverse of what queries have. */
function growth({ rates, center }, pair, position, role = "query") {
  if (!rates) return 1;
  return Math.exp((position - center) * (role === "key" ? -rates[pair] : rates[pair]));
}

/** One number of a column at any position, whole or between two. */
export function wave(recipe, column, position) {
  const [name, pair] = recipe.columns[column];
  const at = angle(recipe.turns[pair], position + recipe.offset);
  const height = { sin: Math.sin(at), cos: Math.cos(at), zero: 0 }[name];
  return recipe.scale * height * growth(recipe, pair, position);
}

function waves(recipe, { start, count }) {
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
      const grown = growth(recipe, pair, start + row);
      found.sin[pair] = scale * Math.sin(at) * grown;
      found.cos[pair] = scale * Math.cos(at) * grown;
    }
    for (let column = 0; column < columns.length; column += 1) {
      values[cell] = sources[column][pairs[column]];
      cell += 1;
    }
  }
  const size = { values, rows: count, columns: columns.length };
  return recipe.rates ? measured(size) : { ...size, lowest: -scale, highest: scale };
}

/** How many positions a column needs for one turn; null where it has no frequency. */
export function wavelength(recipe, column) {
  const [name, pair] = recipe.columns?.[column] ?? [];
  if (name === "zero") return Infinity;
  const frequency = recipe.frequencies?.[pair];
  return typeof frequency === "number" ? TURN / frequency : null;
}

// Biases: any query and key

/** How much a head adds to the score of a query and a key; NaN where a recipe does not say. */
export function bias(recipe, head, query, key) {
  const away = query - key;
  if (recipe.kind === "gaps") return gap(recipe, head, away);
  if (away === 0) return 0;
  const line = away > 0 ? recipe.behind : recipe.ahead;
  if (line === null) return -Infinity;
  const [start, step] = line;
  return recipe.slopes[head] * (start + step * Math.abs(away));
}

function gap(recipe, head, away) {
  const { reach } = recipe;
  if (Math.abs(away) > reach) return NaN;
  return unpacked(recipe)[head * (2 * reach + 1) + reach + away];
}

function pairwise(recipe, { count, head }) {
  const values = new Float32Array(count * count);
  for (let cell = 0; cell < values.length; cell += 1) {
    const key = cell % count;
    values[cell] = bias(recipe, head, (cell - key) / count, key);
  }
  return measured({ values, rows: count, columns: count });
}

// Arrays: as the library has them

const known = new WeakMap();

/** The packed numbers of a recipe. They are shared: copy them before they are changed. */
export function unpacked(recipe) {
  if (!known.has(recipe)) known.set(recipe, floats(recipe.values));
  return known.get(recipe);
}

function floats(text) {
  const bytes = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(text)
    : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  // Little-endian, as every browser's machine is.
  return new Float32Array(bytes.buffer);
}

function array(recipe) {
  const [rows, columns] = recipe.shape;
  return measured({ values: unpacked(recipe).slice(), rows, columns });
}

/** A picture with its lowest and highest number, leaving out what is hidden. */
function measured({ values, rows, columns }) {
  let [lowest, highest] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < lowest) lowest = value;
    if (value > highest) highest = value;
  }
  if (lowest > highest) [lowest, highest] = [0, 0];
  return { values, rows, columns, lowest, highest };
}

// Turning

/** A query or key turned to its position, in float32 as the library turns it. */
export function rotate(recipe, vector, position, role = "query") {
  const at = recipe.turns.map((pieces) => angle(pieces, position));
  const size = at.map((_, pair) => growth(recipe, pair, position, role));
  return turned(
    vector,
    at.map((radians, pair) => recipe.scale * Math.cos(radians) * size[pair]),
    at.map((radians, pair) => recipe.scale * Math.sin(radians) * size[pair]),
    recipe.partners,
  );
}

/** A vector whose pairs of features are turned, in float32; features of no pair stay. */
export function turned(vector, cosines, sines, partners) {
  const { fround } = Math;
  const result = Float32Array.from(vector);
  partners.forEach(([one, other], pair) => {
    const cos = fround(cosines[pair]);
    const sin = fround(sines[pair]);
    result[one] = fround(vector[one] * cos) - fround(vector[other] * sin);
    result[other] = fround(vector[other] * cos) + fround(vector[one] * sin);
  });
  return result;
}

/** A vector whose features are each mixed with a partner of their own, in float32. */
export function crossed(vector, cosines, sines, partners) {
  const { fround } = Math;
  return Float32Array.from(vector, (value, at) =>
    fround(value * cosines[at]) + fround(vector[partners[at]] * sines[at]),
  );
}

/** The cosines and the sines of one row of a rotary picture. */
export function cosinesAndSines({ values, columns }, row) {
  const own = values.subarray(row * columns, (row + 1) * columns);
  return [own.subarray(0, columns / 2), own.subarray(columns / 2)];
}

// Arithmetic

/** The sum of products. */
export function dot(one, other) {
  return one.reduce((sum, value, place) => sum + value * other[place], 0);
}

/** The dot product of every two rows, rows by rows. */
export function gram(values, rows, columns) {
  const wide = Float64Array.from(values);
  const products = new Float64Array(rows * rows);
  for (let one = 0; one < rows; one += 1) {
    for (let other = 0; other <= one; other += 1) {
      let sum = 0;
      for (let column = 0; column < columns; column += 1) {
        sum += wide[one * columns + column] * wide[other * columns + column];
      }
      products[one * rows + other] = sum;
      products[other * rows + one] = sum;
    }
  }
  return products;
}

/** One picture less another of the same shape; what is hidden in both differs by nothing. */
export function difference(one, other) {
  return one.map((value, place) => (Object.is(value, other[place]) ? 0 : value - other[place]));
}

/** Shares that add up to one, larger where the score is; all nothing where every key is hidden. */
export function softmax(scores) {
  const highest = Math.max(...scores);
  if (highest === -Infinity) return scores.map(() => 0);
  const weights = scores.map((score) => Math.exp(score - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/**
 * Numbers rounded to a format of fewer bits: the nearest one, of two as near the even one.
 *
 * A format is what `posenc.precision.FORMATS` has: how many binary digits a number has, the
 * exponent of the smallest number with all of them, and the largest number.
 */
export function rounded(values, format) {
  return values.map((value) => nearest(value, format));
}

function nearest(value, [digits, smallest, largest]) {
  if (value === 0 || !Number.isFinite(value)) return value;
  const exponent = Math.max(exponentOf(Math.abs(value)), smallest);
  const step = 2 ** (exponent - digits + 1);
  const result = even(value / step) * step;
  return Math.abs(result) > largest ? Math.sign(result) * Infinity : result;
}

/** The power of two at or below a number. The logarithm may miss it by one. */
function exponentOf(size) {
  const guess = Math.floor(Math.log2(size));
  if (2 ** guess > size) return guess - 1;
  return 2 ** (guess + 1) <= size ? guess + 1 : guess;
}

function even(value) {
  const below = Math.floor(value);
  const rest = value - below;
  const half = 1 / 2;
  if (rest === half) return below % 2 === 0 ? below : below + 1;
  return rest < half ? below : below + 1;
}
