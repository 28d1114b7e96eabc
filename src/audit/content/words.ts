/** A change of a value in words: of a text the changed part, word by word, with a little of what stands around it. */
import { diffWordsWithSpace } from "diff";
import { printableLine } from "../../common/printable.ts";

/** Characters of a change in words, but for the marks; of a value that is told whole; of what stands around a change. */
const MAX_WORDS = 300;
const MAX_VALUE = 120;
const MAX_AROUND = 24;

/** Longer parts that changed are told as replaced: to find the words in them would take seconds. */
const MAX_COMPARED = 20_000;
const MAX_EDITS = 200;

/** The most of a value that an answer has. */
const MAX_KEPT = 300;

/** A value as an answer has it: a long one is cut. */
export function keptText(text: string | null): string | null {
  return text === null ? null : shortened(text, MAX_KEPT);
}

/** `"draft" -> "final"`; of a text with several words `...was [-due-] {+postponed+} to...`. */
export function changedWords(before: string | null, after: string | null): string {
  if (before === null || after === null || !(/\s/.test(before) && /\s/.test(after))) {
    return `${quoted(before)} -> ${quoted(after)}`;
  }
  const [start, end] = sameEnds(before, after);
  const middles = [before, after].map((text) => text.slice(start, text.length - end));
  const [one = "", other = ""] = middles;
  const parts = [
    { value: before.slice(0, start) },
    ...(partsOf(one, other) ?? [
      { value: one, removed: true },
      { value: other, added: true },
    ]),
    { value: before.slice(before.length - end) },
  ].filter(({ value }) => value !== "");
  return told(parts);
}

interface Part {
  readonly value: string;
  readonly added?: boolean;
  readonly removed?: boolean;
}

function partsOf(before: string, after: string): Part[] | undefined {
  if (Math.max(before.length, after.length) > MAX_COMPARED) return undefined;
  return diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS });
}

/** Characters that both begin and both end with, in whole words. */
function sameEnds(before: string, after: string): [start: number, end: number] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  if (start === shorter && before.length === after.length) return [start, 0];
  while (start > 0 && !/\s/.test(before[start - 1] ?? "")) start -= 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  while (end > 0 && !/\s/.test(before[before.length - end] ?? "")) end -= 1;
  return [start, end];
}

/** The changes in their order, as many as there is room for, and how many places more changed. */
function told(parts: readonly Part[]): string {
  let text = "";
  let room = MAX_WORDS;
  for (const [index, { value, added = false, removed = false }] of parts.entries()) {
    const isSame = !added && !removed;
    const shown = isSame
      ? around(value, { isFirst: index === 0, isLast: index === parts.length - 1 })
      : shortened(value, MAX_VALUE);
    if (room <= 0 && !isSame) {
      const more = placesIn(parts.slice(index));
      return `${printableLine(text)}… and ${more} more ${more === 1 ? "place" : "places"}`;
    }
    room -= shown.length;
    text += removed ? `[-${shown}-]` : added ? `{+${shown}+}` : shown;
  }
  return printableLine(text);
}

/** A place is what was removed with what came instead. */
function placesIn(parts: readonly Part[]): number {
  const isSame = ({ added = false, removed = false }: Part) => !added && !removed;
  return parts.filter((part, index) => {
    const last = parts[index - 1];
    return !isSame(part) && (last === undefined || isSame(last));
  }).length;
}

/** What is the same on both sides, as far as it is near to a change. */
function around(
  text: string,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): string {
  if (text.length <= (isFirst || isLast ? MAX_AROUND : 2 * MAX_AROUND)) return text;
  const head = isFirst ? "" : text.slice(0, MAX_AROUND).replace(/\S*$/, "");
  const tail = isLast ? "" : text.slice(-MAX_AROUND).replace(/^\S*/, "");
  return `${head}…${tail}`;
}

function quoted(text: string | null): string {
  return text === null ? "nothing" : `"${printableLine(shortened(text, MAX_VALUE))}"`;
}

/** Its beginning and its end. */
function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor((most - 1) / 2);
  return `${text.slice(0, half).toWellFormed()}…${text.slice(-half).toWellFormed()}`;
}
