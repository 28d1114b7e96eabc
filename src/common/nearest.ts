/** The names that are nearest to one that does not exist, for a sentence that helps. */
import { count } from "./figures.ts";
import { printable } from "./printable.ts";

/** Edits that turn one text into the other: letters put in, left out or replaced. */
function editDistance(a: string, b: string): number {
  const [from, to] = [[...a], [...b]];
  let last = to.map((_, index) => index);
  last.push(to.length);
  for (const [i, letter] of from.entries()) {
    const row = [i + 1];
    for (const [j, other] of to.entries()) {
      const replaced = (last[j] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(replaced, (last[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    last = row;
  }
  return last[to.length] ?? 0;
}

const SHOWN = 3;

/** Up to three of the names, the nearest first; none that has little in common with what was asked for. */
export function nearest(wanted: string, names: Iterable<string>): string[] {
  const asked = wanted.toLowerCase();
  const ranked = [...new Set(names)].map((name) => ({
    name,
    distance: distanceOf(asked, name.toLowerCase()),
    edits: editDistance(asked, name.toLowerCase()),
  }));
  return ranked
    .filter(({ distance }) => distance <= Math.max(2, asked.length / 2))
    .sort((a, b) => a.distance - b.distance || a.edits - b.edits)
    .slice(0, SHOWN)
    .map(({ name }) => name);
}

/** A name that holds what was asked for is near, however long it is; so is one that makes up half of it. */
function distanceOf(asked: string, name: string): number {
  const holds = asked.length > 2 && name.includes(asked);
  const isHeld = name.length * 2 >= asked.length && asked.includes(name);
  return (holds || isHeld) && name !== asked ? 1 : editDistance(asked, name);
}

/** ` The nearest are "Web CMS" and "Web Shop".`, or, where nothing is near, what `otherwise` says. */
export function nearestSentence(wanted: string, names: Iterable<string>, otherwise: string): string {
  const near = nearest(wanted, names).map(quoted);
  if (near.length === 0) return otherwise === "" ? "" : ` ${otherwise}`;
  return ` The nearest ${near.length === 1 ? "is" : "are"} ${joinWords(near, "and")}.`;
}

/** ` (did you mean "Web CMS"?)`, or nothing where nothing is near. */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  const [near] = nearest(wanted, names);
  return near === undefined ? "" : ` (did you mean ${quoted(near)}?)`;
}

/** Names come from the service too. */
function quoted(name: string): string {
  return JSON.stringify(printable(name));
}

/** `a, b, c`, or `a, b and 3 more` where there are more than `most`. */
export function joinFirst(words: readonly string[], most: number): string {
  const first = words.slice(0, most).join(", ");
  return words.length > most ? `${first} and ${count(words.length - most)} more` : first;
}

/** `a, b or c`. */
export function joinWords(words: readonly string[], conjunction: "and" | "or"): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`;
}
