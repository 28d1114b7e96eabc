/** Numbers and names of the Parquet format. */

export const MAGIC = Buffer.from("PAR1");
/** Of the length that stands before a text, before the levels of a page, and behind the footer. */
export const LENGTH_BYTES = 4;

/** Physical types. */
export const PHYSICAL = { boolean: 0, int32: 1, int64: 2, double: 5, bytes: 6 } as const;
export type Physical = keyof typeof PHYSICAL;

export const REQUIRED = 0;
export const OPTIONAL = 1;

export const CODECS = { none: 0, zstd: 6 } as const;
export const ENCODINGS = { plain: 0, rle: 3 } as const;
export const DATA_PAGE = 0;
