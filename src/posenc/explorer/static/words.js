// Numbers and names as people read them.

/** Four decimals, or four digits where that would leave too few; a true minus sign. */
export function decimal(value) {
  if (value === -Infinity) return "masked";
  const small = value !== 0 && Math.abs(value) < 0.01;
  const text = small ? value.toPrecision(3) : value.toFixed(4);
  return text.replaceAll("-", "−");
}

/** A whole number with its thousands apart, or a long one shortened to three digits. */
export function amount(value) {
  if (!Number.isFinite(value)) return "endlessly many";
  const digits = Math.abs(value) < 100 ? 3 : Math.max(3, Math.floor(Math.log10(value)) + 1);
  return value.toLocaleString("en", { maximumSignificantDigits: digits });
}

/** A whole number with its thousands apart. */
export function whole(value) {
  return value.toLocaleString("en");
}

/** A number beside a scale, as short as it can be. */
export function tick(value) {
  const small = value !== 0 && Math.abs(value) < 1e-4;
  const text = small ? value.toExponential(2) : String(Number(value.toPrecision(3)));
  return text.replaceAll("-", "−");
}

/** A place of a table, as "feature 4". */
export function place(axis, number) {
  return `${axis.name} ${whole(number)}`;
}

/** What a column holds, as "sine of pair 2"; "" in a table that has no pairs. */
export function content(recipe, column) {
  if (!recipe.columns?.length) return "";
  const [wave, pair] = recipe.columns[column];
  return { sin: `sine of pair ${pair}`, cos: `cosine of pair ${pair}`, zero: "always zero", itself: "the coordinate itself" }[wave];
}

/** The number under the cursor, and where it stands. */
export function cell(scene) {
  return `${rowPlace(scene)}, ${columnPlace(scene)}: ${value(scene)}`;
}

/** The same for a slider that moves from row to row. */
export function spokenRow(scene) {
  return `${rowPlace(scene)}: ${value(scene)} at ${place(scene.axes.column, scene.column)}`;
}

/** The same for a slider that moves from column to column. */
export function spokenColumn(scene) {
  return `${columnPlace(scene)}: ${value(scene)} at ${rowPlace(scene)}`;
}

function rowPlace({ axes, span, row }) {
  return place(axes.row, span.start + row);
}

function columnPlace({ recipe, axes, column }) {
  const what = content(recipe, column);
  return `${place(axes.column, column)}${what && ` (${what})`}`;
}

function value({ values, columns, row, column }) {
  return decimal(values[row * columns + column]);
}
