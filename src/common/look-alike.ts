/** Finds what people cannot see: characters without a shape, and the difference of texts that look alike. */

/** Matches blanks of any kind and control characters, but not what takes no space. */
const BLANKS = /[\p{Z}\p{Cc}]+/gu;
const SHAPELESS = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** `found one with an invisible character: U+200B at the end`; `null` if the address has none but spaces. */
export function invisibleClause(address: string): string | null {
  const characters = [...address];
  const at = characters.findIndex((each) => each !== " " && asSeen(each) === "");
  if (at < 0) return null;
  const found = `${codePoints(characters.slice(at, at + 1))} ${placeOf(at, at + 1, characters.length)}`;
  return `found one with an invisible character: ${found}`;
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
  const [end, otherEnd] = [one.length - same, two.length - same];
  const [mine, theirs] = [codePoints(one.slice(start, end)), codePoints(two.slice(start, otherEnd))];
  const difference =
    theirs === ""
      ? `${mine} ${placeOf(start, end, one.length)} of yours`
      : `${theirs} ${placeOf(start, otherEnd, two.length)} of that one${mine && `, where yours has ${mine}`}`;
  return `they differ only in what is not visible: ${difference}`;
}

/** Text without what is not visible: composed characters, single spaces and none around it. */
export function asSeen(text: string): string {
  return text.normalize("NFC").replace(SHAPELESS, "").replace(BLANKS, " ").trim();
}

/** `end`: exclusive. */
function placeOf(start: number, end: number, length: number): string {
  if (end === length) return "at the end";
  return start === 0 ? "at the beginning" : `at character ${start + 1}`;
}

const MAX_SHOWN = 4;

function codePoints(characters: readonly string[]): string {
  const codes = characters.map((each) => (each.codePointAt(0) ?? 0).toString(16).toUpperCase());
  const shown = codes.slice(0, MAX_SHOWN).map((code) => `U+${code.padStart(4, "0")}`);
  return [...shown, ...(codes.length > MAX_SHOWN ? ["..."] : [])].join(" ");
}
