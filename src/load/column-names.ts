/** A column that a view wants to have: a name that somebody else chose, and what tells it apart from its namesakes. */
export interface WantedColumn {
  readonly name: string;
  readonly tag: string;
}

const NAME_LENGTH = 180;
const TAG_LENGTH = 60;

/**
 * Distinct column names for a view, none like a `reserved` one. A name that cannot stay gets its tag: `Topic (5f3a)`.
 *
 * Alike means alike without regard to case, by the rules of Unicode: tools that read from DuckDB fold more than it
 * does. All namesakes get their tag, so that no one looks like the first. DuckDB has no name that is empty or has a NUL
 * (written as U+FFFD); long names are cut.
 */
export function distinctColumnNames(
  wanted: readonly WantedColumn[],
  reserved: readonly string[],
): readonly string[] {
  const uses = new Map<string, number>();
  const count = (name: string): void => {
    uses.set(fold(name), (uses.get(fold(name)) ?? 0) + 1);
  };
  for (const name of reserved) count(name);
  for (const { name } of wanted) count(writable(name, NAME_LENGTH));
  const stays = ({ name }: WantedColumn): boolean =>
    name !== "" && writable(name, NAME_LENGTH) === name && uses.get(fold(name)) === 1;
  const taken = new Set([...reserved, ...wanted.filter(stays).map(({ name }) => name)].map(fold));
  return wanted.map((column) => (stays(column) ? column.name : claim(tagged(column), taken)));
}

function tagged({ name, tag }: WantedColumn): string {
  return `${writable(name, NAME_LENGTH)} (${writable(tag, TAG_LENGTH)})`.trimStart();
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
