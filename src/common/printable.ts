/**
 * Makes foreign text safe for where it goes. Control characters become spaces in sentences, disappear on terminals, and
 * are shown by their code point in JSON and spreadsheets.
 */

/** Matches control characters (with ESC and C1), bidirectional controls, line separators and lone surrogates. */
const STEERING = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

function withoutSteering(text: string, form: (codePoint: string) => string, kept = ""): string {
  return text.replace(STEERING, (character) =>
    kept.includes(character) ? character : form(character.charCodeAt(0).toString(16).padStart(4, "0")),
  );
}

/** Text for a sentence: one line of at most `maxCharacters`, without control and format characters. */
export function printable(text: string, maxCharacters = 200): string {
  const line = withoutSteering(text.slice(0, maxCharacters * 4), () => " ")
    .replace(/[ \p{Cf}]+/gu, " ")
    .trim();
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 1).trimEnd()}…` : line;
}

/** Message of any thrown value as a clause without a full stop. */
export function clauseOf(thrown: unknown): string {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return printable(why, 300).replace(/\.$/, "");
}

/** Text for a terminal, of one or more lines. */
export function printableText(text: string): string {
  return withoutSteering(text, () => "", "\n\t");
}

/** A line for a terminal; line ends are shown as `↵`. */
export function printableLine(text: string): string {
  return printableText(text.replace(/\r\n|[\n\u2028\u2029]/g, "↵").replace(/\t/g, " "));
}

/** A line of Markdown with all markup escaped. */
export function markdownText(text: string): string {
  return escaped(text, /[\\`*_{}[\]|~#!]/g);
}

/** Like {@link markdownText}, but names between backticks stay code. */
export function markdownSentence(text: string): string {
  return escaped(text, /(?<!`)`[\w-]+`(?!`)|[\\`*_{}[\]|~#!]/g);
}

/** `markup` matches single characters to escape, and longer parts to keep. */
function escaped(text: string, markup: RegExp): string {
  return printableLine(text)
    .replace(markup, (found) => (found.length > 1 ? found : `\\${found}`))
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
}

/** Matches texts that a spreadsheet reads as a formula, by their first character, full-width forms included. */
export const FORMULA = /^[=+\-@\t\r\n\0＝＋－＠]/;
const NEEDS_QUOTES = /[",;\t\r\n]|^ | $/;

/** A cell of CSV by RFC 4180, in quotes if necessary. */
export function csvCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Text that no spreadsheet runs: `'` before a formula, `[U+001B]` for a control character. */
export function spreadsheetText(text: string): string {
  const guarded = FORMULA.test(text) ? `'${text}` : text;
  return withoutSteering(guarded, (codePoint) => `[U+${codePoint.toUpperCase()}]`, "\t\r\n");
}

/** JSON of a value with control characters escaped. It parses to the same value. */
export function jsonText(value: string | number | boolean | object | null, indent?: number): string {
  return withoutSteering(JSON.stringify(value, undefined, indent), (codePoint) => `\\u${codePoint}`, "\n");
}

/** JSON text in one line, with all digits of its numbers; `undefined` if it is not JSON, which some databases accept. */
export function jsonAsItIs(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  // Inside strings line ends are escaped, so those left are white space.
  return withoutSteering(text.replace(/[\n\r\t]/g, " "), (codePoint) => `\\u${codePoint}`);
}

/** Any value in a few words for a sentence. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** Words of a service as a sentence: with a full stop, unless they end with a mark. */
export function asSentence(words: string): string {
  return /[.!?]$/.test(words) ? words : `${words}.`;
}
