import { oneTable } from "../asking.js";
import { start } from "../main.js";
import * as attention from "../views/attention.js";
import * as made from "../views/made.js";
import * as outputs from "../views/outputs.js";
import * as sentence from "../views/sentence.js";

start({ views: { attention, made, outputs, sentence }, asks: everyWord });

/** The table and the words, whatever the sentence: as many places as there are words at most. */
function everyWord(settings, spec, page) {
  const { max } = page.room.controls.find(({ name }) => name === "word");
  return oneTable({ ...settings, count: max }, spec, page);
}
