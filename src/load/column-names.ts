/** Gives columns of views distinct names, where the names of custom fields or external fields are not. */

/** Name that somebody else chose, and tags that tell it apart: the first unique one is used, else the last. */
interface ColumnRequest {
  readonly name: string;
  readonly tags: readonly string[];
}

/** Maximum length in UTF-16 units. */
const NAME_LENGTH = 180;
const TAG_LENGTH = 60;

/**
 * Distinct column names for a view, none equal to a `reserved` one. A name that is not unique gets a tag: `Topic (Old)`,
 * or `Topic (5f3a)` if another column is `Topic (Old)` too. All equal names get a tag, so that none looks like the first.
 *
 * Names are compared without case, by the rules of Unicode: tools that read from DuckDB fold more than it does. DuckDB
 * has no empty name and no NUL in a name (written as U+FFFD); long names are cut.
 */
export function distinctColumnNames(
  columns: readonly ColumnRequest[],
  reserved: readonly string[],
): readonly string[] {
  const uses = countNames([...reserved, ...columns.map(({ name }) => writable(name, NAME_LENGTH))]);
  const isUnique = ({ name }: ColumnRequest): boolean =>
    name !== "" && writable(name, NAME_LENGTH) === name && uses.get(fold(name)) === 1;
  const used = new Set([...reserved, ...columns.filter(isUnique).map(({ name }) => name)].map(fold));
  const tagged = countNames(columns.filter((column) => !isUnique(column)).flatMap(taggedNames));
  const isFree = (name: string) => tagged.get(fold(name)) === 1 && !used.has(fold(name));
  return columns.map((column) => {
    if (isUnique(column)) return column.name;
    const names = taggedNames(column);
    const name = names.find(isFree) ?? names.at(-1) ?? "";
    let free = name;
    for (let number = 2; used.has(fold(free)); number++) free = `${name} #${number}`;
    used.add(fold(free));
    return free;
  });
}

/** Number of times that each name occurs, without case. */
function countNames(names: readonly string[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const name of names) uses.set(fold(name), (uses.get(fold(name)) ?? 0) + 1);
  return uses;
}

/** The name with each of its tags; empty tags are left out, except the last. */
function taggedNames({ name, tags }: ColumnRequest): string[] {
  const usable = [...tags.slice(0, -1).filter((tag) => tag !== ""), ...tags.slice(-1)];
  const names = usable.map((tag) =>
    `${writable(name, NAME_LENGTH)} (${writable(tag, TAG_LENGTH)})`.trimStart(),
  );
  return names.filter((each, index) => names.findLastIndex((other) => fold(other) === fold(each)) === index);
}

const fold = (name: string): string => name.toLowerCase();

/** The text without NUL, cut between two characters to a length in UTF-16 units. */
function writable(text: string, length: number): string {
  const clean = text.replaceAll("\0", "\uFFFD");
  return clean.length <= length ? clean : clean.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}
