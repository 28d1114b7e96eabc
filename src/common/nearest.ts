/** Suggests names for a misspelled one, and joins words to lists. */
import { count } from "./figures.ts";
import { hiddenDifference } from "./look-alike.ts";
import { printable } from "./printable.ts";

/** Number of letters to insert, delete or replace to turn one text into the other. */
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

const MAX_SUGGESTIONS = 3;

/** Up to three similar names, the nearest first. A name that contains the wanted one, or half of it, counts as near. */
export function nearest(wanted: string, names: Iterable<string>): string[] {
  const asked = wanted.toLowerCase();
  const ranked = [...new Set(names)].map((name) => {
    const lower = name.toLowerCase();
    const contains = asked.length > 2 && lower.includes(asked);
    const isPart = lower.length * 2 >= asked.length && asked.includes(lower);
    const edits = editDistance(asked, lower);
    const looksAlike = hiddenDifference(wanted, name) !== null;
    return { name, edits, distance: looksAlike ? -1 : contains || isPart ? Math.min(1, edits) : edits };
  });
  return ranked
    .filter(({ distance }) => distance <= Math.max(2, asked.length / 2))
    .sort((a, b) => a.distance - b.distance || a.edits - b.edits)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

/** ` The nearest are "Web CMS" and "Web Shop".`, or `otherwise` if nothing is near. */
export function nearestSentence(wanted: string, names: Iterable<string>, otherwise: string): string {
  return nearSentence(wanted, nearest(wanted, names), otherwise);
}

/** The same for names that are known to be near, the nearest first. */
export function nearSentence(wanted: string, near: readonly string[], otherwise: string): string {
  const [first] = near;
  if (first === undefined) return otherwise === "" ? "" : ` ${otherwise}`;
  const hidden = hiddenDifference(wanted, first);
  if (hidden !== null) return ` The nearest is ${quoted(first)}; ${hidden}.`;
  return ` The nearest ${near.length === 1 ? "is" : "are"} ${joinWords(near.map(quoted), "and")}.`;
}

/** ` (did you mean "Web CMS"?)`, or the empty text if nothing is near. */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  const [near] = nearest(wanted, names);
  if (near === undefined) return "";
  const hidden = hiddenDifference(wanted, near);
  return ` (did you mean ${quoted(near)}?${hidden === null ? "" : ` ${hidden}`})`;
}

/** Quotes a name, which may come from the service. */
export function quoted(name: string): string {
  return JSON.stringify(printable(name));
}

/** `a, b, c`, or `a, b and 3 more` for more than `most`. */
export function joinFirst(words: readonly string[], most: number): string {
  const first = words.slice(0, most).join(", ");
  return words.length > most ? `${first} and ${count(words.length - most)} more` : first;
}

/** `a, b or c`. */
export function joinWords(words: readonly string[], conjunction: "and" | "or"): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`;
}
