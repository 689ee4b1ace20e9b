// What is said of a mistake.

import { html } from "./dom.js";

const REPORT = /^([\w.-]+\/[\w.-]+)#(\d+)$/; // repository and number of an issue

/** What is wrong, how to mend it, and where it was reported, as elements. */
export function said({ sentence, mend, source }) {
  const rows = [["What is wrong", sentence], ["Instead", mend]];
  if (source) rows.push(["Reported", linked(source)]);
  const parts = rows.flatMap(([name, words]) => [html("dt", {}, name), html("dd", {}, words)]);
  return [html("dl", { class: "said" }, ...parts)];
}

function linked(source) {
  const [, repository, number] = source.match(REPORT) ?? [];
  if (!repository) return source;
  const href = `https://github.com/${repository}/issues/${number}`;
  return html("a", { href, rel: "noreferrer" }, source);
}
