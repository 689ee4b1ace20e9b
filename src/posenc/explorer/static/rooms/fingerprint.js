import { oneTable } from "../asking.js";
import { start } from "../main.js";
import * as given from "../views/given.js";
import * as handed from "../views/handed.js";
import * as named from "../views/named.js";

start({ views: { given, handed, named }, asks: withExample });

/** The table of the settings, and the example to name if one is chosen. */
function withExample(settings, spec, page) {
  const { main, answer } = oneTable(settings, spec, page);
  return settings.example ? { main, answer } : { main };
}
