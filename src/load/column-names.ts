/** A column that a view wants to have: a name that somebody else chose, and what tells it apart from its namesakes. */
interface WantedColumn {
  readonly name: string;
  /** The first that no namesake has is taken; the last one is taken where none does. */
  readonly tags: readonly string[];
}

const NAME_LENGTH = 180;
const TAG_LENGTH = 60;

/**
 * Distinct column names for a view, none like a `reserved` one. A name that cannot stay gets a tag: `Topic (Old)`, or
 * `Topic (5f3a)` where another is `Topic (Old)` too.
 *
 * Alike means alike without regard to case, by the rules of Unicode: tools that read from DuckDB fold more than it
 * does. All namesakes get a tag, so that no one looks like the first. DuckDB has no name that is empty or has a NUL
 * (written as U+FFFD); long names are cut.
 */
export function distinctColumnNames(
  wanted: readonly WantedColumn[],
  reserved: readonly string[],
): readonly string[] {
  const uses = tallied([...reserved, ...wanted.map(({ name }) => writable(name, NAME_LENGTH))]);
  const stays = ({ name }: WantedColumn): boolean =>
    name !== "" && writable(name, NAME_LENGTH) === name && uses.get(fold(name)) === 1;
  const taken = new Set([...reserved, ...wanted.filter(stays).map(({ name }) => name)].map(fold));
  const offered = tallied(wanted.filter((column) => !stays(column)).flatMap(taggedNames));
  const isFree = (name: string) => offered.get(fold(name)) === 1 && !taken.has(fold(name));
  return wanted.map((column) => {
    if (stays(column)) return column.name;
    const names = taggedNames(column);
    return claim(names.find(isFree) ?? names.at(-1) ?? "", taken);
  });
}

/** How often there is a name, whatever its case. */
function tallied(names: readonly string[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const name of names) uses.set(fold(name), (uses.get(fold(name)) ?? 0) + 1);
  return uses;
}

/** The name with each of its tags, the empty ones left out but for the last. */
function taggedNames({ name, tags }: WantedColumn): string[] {
  const told = [...tags.slice(0, -1).filter((tag) => tag !== ""), ...tags.slice(-1)];
  const names = told.map((tag) =>
    `${writable(name, NAME_LENGTH)} (${writable(tag, TAG_LENGTH)})`.trimStart(),
  );
  return names.filter((each, place) => names.findLastIndex((other) => fold(other) === fold(each)) === place);
}

/** The name, or the first of `name #2`, `name #3`, ... that nobody has; it is taken from now on. */
function claim(name: string, taken: Set<string>): string {
  let free = name;
  for (let number = 2; taken.has(fold(free)); number++) free = `${name} #${number}`;
  taken.add(fold(free));
  return free;
}

const fold = (name: string): string => name.toLowerCase();

/** Without NUL, and cut to a length in UTF-16 units between two characters. */
function writable(text: string, length: number): string {
  const clean = text.replaceAll("\0", "\uFFFD");
  return clean.length <= length ? clean : clean.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}
