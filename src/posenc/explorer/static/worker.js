// Evaluates tables beside the page, so that sliders stay smooth.

import { table } from "./kernel.js";

onmessage = ({ data: { order, recipe, span } }) => {
  const made = table(recipe, span);
  postMessage({ order, made }, [made.values.buffer]);
};
