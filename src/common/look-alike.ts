/** Finds what people cannot see: characters without a shape, and the difference of texts that look alike. */

/** Matches blanks of any kind and control characters, but not what takes no space. */
const BLANKS = /[\p{Z}\p{Cc}]+/gu;
const SHAPELESS = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** `found one with an invisible character: U+200B at the end`; `null` if the address has none but spaces. */
export function invisibleClause(address: string): string | null {
  const characters = [...address];
  const at = characters.findIndex((each) => each !== " " && asSeen(each) === "");
  if (at < 0) return null;
  const found = codePoints(characters.slice(at, at + 1));
  return `found one with an invisible character: ${found} ${placeOf(at, characters.length - at - 1)}`;
}

/** Says how two different texts differ that look the same; `null` for others. */
export function hiddenDifference(yours: string, other: string): string | null {
  if (yours === other || asSeen(yours) !== asSeen(other)) return null;
  const [one, two] = [[...yours], [...other]];
  const shorter = Math.min(one.length, two.length);
  let start = 0;
  while (start < shorter && one[start] === two[start]) start++;
  let same = 0;
  while (same < shorter - start && one.at(-1 - same) === two.at(-1 - same)) same++;
  const [mine, theirs] = [one, two].map((each) => codePoints(each.slice(start, each.length - same)));
  const place = placeOf(start, same);
  const difference = theirs
    ? `${theirs} ${place} of that one${mine && `, where yours has ${mine}`}`
    : `${mine} ${place} of yours`;
  return `they differ only in what is not visible: ${difference}`;
}

/** Text without what is not visible: composed characters, single spaces and none around it. */
export function asSeen(text: string): string {
  return text.normalize("NFC").replace(SHAPELESS, "").replace(BLANKS, " ").trim();
}

/** Place of characters, by the number of those before and after them. */
function placeOf(start: number, after: number): string {
  if (after === 0) return "at the end";
  return start === 0 ? "at the beginning" : `at character ${start + 1}`;
}

function codePoints(characters: readonly string[]): string {
  const codes = characters.map((each) => each.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0"));
  return codes.map((code) => `U+${code}`).join(" ");
}
