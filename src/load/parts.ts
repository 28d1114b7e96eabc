/** A staged Parquet file of one table. */
export interface StagedPart {
  /** Absolute path. */
  readonly file: string;
  readonly rows: number;
  /** Least `content_id` in the part, by UTF-8 bytes; read only where the table's key begins with it. */
  readonly firstKey: string;
  /** Greatest `content_id` in the part // inclusive */
  readonly lastKey: string;
  /** 0 for the sweep; an item that is done anew has a later one, and its latest counts. */
  readonly generation: number;
}

/** Files of each generation, in the order of the parts. */
export function filesByGeneration(parts: readonly StagedPart[]): Map<number, string[]> {
  const files = new Map<number, string[]>();
  for (const part of parts) {
    const members = files.get(part.generation);
    if (members === undefined) files.set(part.generation, [part.file]);
    else members.push(part.file);
  }
  return files;
}

export function sumOfRows(parts: readonly { readonly rows: number }[]): number {
  return parts.reduce((total, part) => total + part.rows, 0);
}
