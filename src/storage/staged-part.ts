/** A staged Parquet file of one table. */
export interface StagedPart {
  /** Absolute path. */
  readonly file: string;
  readonly rows: number;
  /** Least `content_id` in the part, by UTF-8 bytes; read only where the table's key begins with it. */
  readonly firstKey: string;
  /** Greatest `content_id` in the part. */
  readonly lastKey: string;
}

export function sumOfRows(parts: readonly { readonly rows: number }[]): number {
  return parts.reduce((total, part) => total + part.rows, 0);
}
