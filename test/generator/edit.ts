/** What editors do to a content set from one night to the next. */
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface EditOptions {
  /** Night of the edits; other nights edit other items. */
  readonly night: number;
  /** One item of so many is edited. */
  readonly every: number;
  /** Whether every other one of them loses a custom field too. */
  readonly clears: boolean;
}

/** Writes a content set into another folder with some items edited: their title and text. Gives how many. */
export async function editContentSet(
  set: string,
  out: string,
  { night, every, clears }: EditOptions,
): Promise<number> {
  await cp(set, out, { recursive: true });
  const file = join(set, "content.ndjson");
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  let edited = 0;
  const now = lines.map((line, at) => {
    if (at % every !== night % every) return line;
    edited++;
    const item: Record<string, unknown> = JSON.parse(line);
    const [cleared, ...others] = Object.entries(item.custom_fields ?? {});
    const updated = new Date(Date.UTC(2026, 10, 20 + night, 1, 0, 0, at)).toISOString();
    return JSON.stringify({
      ...item,
      title: `${item.title} (${night})`,
      content: `${item.content}<p>Edited in night ${night}.</p>`,
      updated_at: updated,
      ...(clears &&
        edited % 2 === 0 &&
        cleared !== undefined && { custom_fields: Object.fromEntries(others) }),
    });
  });
  await writeFile(join(out, "content.ndjson"), `${now.join("\n")}\n`);
  return edited;
}
