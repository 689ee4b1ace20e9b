// Evaluates tables beside the page, so that sliders stay smooth.

import { table } from "./kernel.js";

let recipe = null;

onmessage = ({ data }) => {
  if (data.recipe) recipe = data.recipe;
  const made = table(recipe, data.span);
  postMessage(made, [made.values.buffer]);
};
