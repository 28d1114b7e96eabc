/** Control characters (with ESC and the C1 range), and characters that turn the direction of the text around them. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

/** Text of foreign origin as one short line that a terminal shows as it is. */
export function printable(text: string, maxCharacters = 200): string {
  const line = text
    .slice(0, maxCharacters * 4)
    .replace(UNPRINTABLE, " ")
    .replace(/ {2,}/g, " ")
    .trim();
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 1).trimEnd()}…` : line;
}
