// What a room asks for: orders by name, { table: {...} } or { answer: {...} } each.

/** The orders of a room that shows one table, and of its answer where it has one. */
export function oneTable(settings, spec, page) {
  const orders = { main: { table: tableOf(settings, spec, page) } };
  if (page.room.answers) orders.answer = { answer: answerOf(settings, spec, page) };
  return orders;
}

/** The table that the settings describe. */
export function tableOf(settings, spec, page) {
  const { mistake } = settings;
  return { spec, ...(mistake && { mistake }), ...spanOf(settings, page) };
}

/** The part of the table that is in sight. */
function spanOf({ encoding, from = 0, count = 64, head = 0, cells: grid = 8 }, page) {
  const { tags } = page.methods[encoding];
  return { start: tags.includes("line") ? from : 0, count, head, grid };
}

/** The encoding, and the settings that the room's answer depends on. */
function answerOf(settings, spec, page) {
  return { spec, ...Object.fromEntries(page.room.asks.map((name) => [name, settings[name] ?? ""])) };
}
