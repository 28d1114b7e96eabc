/**
 * Text of foreign origin, made safe for where it goes. What steers is one class; what becomes of it is a matter of the
 * form: a sentence has a blank in its place, a terminal's text is without it, and where the text must stay whole, in
 * JSON and in spreadsheets, its code point stands there. A page marks more: all that cannot be seen.
 */
import { FORMULA } from "./csv.ts";

/**
 * Control characters (with ESC and the C1 range), what turns the direction of the text around it, separators of lines,
 * and halves of characters.
 */
const STEERING = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * What cannot be seen or turns the text around it: control and format characters (those of direction among them),
 * separators of lines, fillers and other characters that are drawn as nothing, as the first group. A joiner within an
 * emoji and the mark that asks for its colours belong to it. The script of a page has this declaration too.
 */
export const INVISIBLE =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)\u200D(?=\p{Extended_Pictographic})|(?<=[\p{Emoji}])\uFE0F|([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800])/gu;

/** A page's text: `mark` of a code point such as `U+202E` in the place of each character that cannot be seen. */
export function withMarks(text: string, mark: (codePoint: string) => string): string {
  return text.replace(INVISIBLE, (all, invisible: string | undefined) => {
    const number = invisible?.codePointAt(0);
    return number === undefined ? all : mark(`U+${number.toString(16).toUpperCase().padStart(4, "0")}`);
  });
}

function withoutSteering(text: string, form: (codePoint: string) => string, kept = ""): string {
  return text.replace(STEERING, (character) =>
    kept.includes(character) ? character : form(character.charCodeAt(0).toString(16).padStart(4, "0")),
  );
}

/** A part of a sentence: one short line, without what is drawn as nothing. */
export function printable(text: string, maxCharacters = 200): string {
  const line = withoutSteering(text.slice(0, maxCharacters * 4), () => " ")
    .replace(/[ \p{Cf}]+/gu, " ")
    .trim();
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 1).trimEnd()}…` : line;
}

/** Why something failed, whoever threw it: a clause, with no full stop at its end. */
export function clauseOf(thrown: unknown): string {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return printable(why, 300).replace(/\.$/, "");
}

/** A terminal's text, of several lines maybe. */
export function printableText(text: string): string {
  return withoutSteering(text, () => "", "\n\t");
}

/** A terminal's line; the ends of lines show as `↵`. */
export function printableLine(text: string): string {
  return printableText(text.replace(/\r\n|[\n\u2028\u2029]/g, "↵").replace(/\t/g, " "));
}

/** Markdown's text, in one line, with its markup escaped. */
export function markdownText(text: string): string {
  return escaped(text, /[\\`*_{}[\]|~#!]/g);
}

/** The same of a sentence of ours, in which a name between backticks, as of a setting, stays code. */
export function markdownSentence(text: string): string {
  return escaped(text, /(?<!`)`[\w-]+`(?!`)|[\\`*_{}[\]|~#!]/g);
}

/** `markup`: characters to escape, and longer parts that stay. */
function escaped(text: string, markup: RegExp): string {
  return printableLine(text)
    .replace(markup, (found) => (found.length > 1 ? found : `\\${found}`))
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
}

/** A text that no spreadsheet runs: `'` before a formula, `[U+001B]` for a character that steers. */
export function spreadsheetText(text: string): string {
  const guarded = FORMULA.test(text) ? `'${text}` : text;
  return withoutSteering(guarded, (codePoint) => `[U+${codePoint.toUpperCase()}]`, "\t\r\n");
}

/** JSON of a value; equal to what `JSON.stringify` writes once it is read. */
export function jsonText(value: string | number | boolean | object | null, indent?: number): string {
  return withoutSteering(JSON.stringify(value, undefined, indent), (codePoint) => `\\u${codePoint}`, "\n");
}

/** JSON text in one line, each number digit by digit as it is; undefined: it is none, though a database may take it. */
export function jsonAsItIs(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  // Within a string ends of lines are escaped already: what is left is blank space.
  return withoutSteering(text.replace(/[\n\r\t]/g, " "), (codePoint) => `\\u${codePoint}`);
}
