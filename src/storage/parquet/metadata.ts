/** Metadata of Parquet files, in Thrift's compact protocol: the headers of pages and the footer. */
import type { ColumnType } from "../../tables/declare.ts";

/** Number of the type in the protocol, and the bytes of the value. */
type ThriftValue = readonly [type: number, bytes: readonly number[]];

/** Values by their field numbers, in ascending order. */
type ThriftFields = readonly (readonly [number: number, value: ThriftValue])[];

/** Lists below this length have it in the byte of their type. */
const SHORT = 15;

/** Seven bits per byte, the lowest first. Up to 2^53. */
export function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return [...bytes, rest];
}

/** Zigzag encoding of non-negative integers. */
const i32 = (value: number): ThriftValue => [5, varint(value * 2)];
const i64 = (value: number): ThriftValue => [6, varint(value * 2)];

const text = (value: string): ThriftValue => {
  const utf8 = Buffer.from(value);
  return [8, [...varint(utf8.length), ...utf8]];
};

const struct = (...fields: ThriftFields): ThriftValue => {
  let last = 0;
  const bytes = fields.flatMap(([number, [type, value]]) => {
    const header = ((number - last) << 4) | type;
    last = number;
    return [header, ...value];
  });
  return [12, [...bytes, 0]];
};

/** A list of values of one type. An empty list counts as one of structures. */
const list = (values: readonly ThriftValue[]): ThriftValue => {
  const { length } = values;
  const [type] = values[0] ?? struct();
  const head = [(Math.min(length, SHORT) << 4) | type, ...(length >= SHORT ? varint(length) : [])];
  return [9, [...head, ...values.flatMap(([, bytes]) => bytes)]];
};

export const MAGIC = Buffer.from("PAR1");
const [PLAIN, RLE] = [i32(0), i32(3)];
const DATA_PAGE = 0;

/** Physical types. */
const PHYSICAL = { boolean: 0, int32: 1, int64: 2, double: 5, bytes: 6 } as const;

interface LogicalType {
  readonly physical: keyof typeof PHYSICAL;
  /** Fields of `SchemaElement` that describe the type. */
  readonly annotation: ThriftFields;
}

/** States a type as `converted_type` for older readers and as `logicalType`. */
function logical(converted: number, number: number, type = struct()): ThriftFields {
  return [
    [6, i32(converted)],
    [10, struct([number, type])],
  ];
}

/** `true` is a field of type 1 without bytes. */
const UTC_MICROSECONDS = struct([1, [1, []]], [2, struct([2, struct()])]);
const TEXT: LogicalType = { physical: "bytes", annotation: logical(0, 1) };

export const LOGICAL_TYPES: Readonly<Record<ColumnType, LogicalType>> = {
  text: TEXT,
  json: TEXT,
  boolean: { physical: "boolean", annotation: [] },
  integer: { physical: "int32", annotation: [] },
  bigint: { physical: "int64", annotation: [] },
  double: { physical: "double", annotation: [] },
  date: { physical: "int32", annotation: logical(6, 6) },
  timestamp: { physical: "int64", annotation: logical(10, 8, UTC_MICROSECONDS) },
};

/** `bytes`: size of the page before compression; `keptBytes`: after it. */
export function pageHeader(rows: number, bytes: number, keptBytes: number): Uint8Array {
  const header = struct(
    [1, i32(DATA_PAGE)],
    [2, i32(bytes)],
    [3, i32(keptBytes)],
    [5, struct([1, i32(rows)], [2, PLAIN], [3, RLE], [4, RLE])],
  );
  return Uint8Array.from(header[1]);
}

export interface ColumnChunk {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly codec: number;
  /** Includes the headers of the pages. */
  readonly bytes: number;
  readonly uncompressedBytes: number;
}

/** The footer of a file whose chunks follow each other after the magic number. */
export function footerOf(chunks: readonly ColumnChunk[], rows: number): Uint8Array {
  let offset = MAGIC.length;
  const described = chunks.map(({ name, type, codec, bytes, uncompressedBytes }) => {
    const begin = i64(offset);
    offset += bytes;
    const chunk = struct(
      [1, i32(PHYSICAL[LOGICAL_TYPES[type].physical])],
      [2, list([PLAIN, RLE])],
      [3, list([text(name)])],
      [4, i32(codec)],
      [5, i64(rows)],
      [6, i64(uncompressedBytes)],
      [7, i64(bytes)],
      [9, begin],
    );
    return struct([2, begin], [3, chunk]);
  });
  const total = chunks.reduce((sum, { uncompressedBytes }) => sum + uncompressedBytes, 0);
  const rowGroup = struct([1, list(described)], [2, i64(total)], [3, i64(rows)]);
  const root = struct([4, text("schema")], [5, i32(chunks.length)]);
  const columns = chunks.map(({ name, type, nullable }) => {
    const { physical, annotation } = LOGICAL_TYPES[type];
    // 1: optional; 0: required.
    const repetition = i32(nullable ? 1 : 0);
    return struct([1, i32(PHYSICAL[physical])], [3, repetition], [4, text(name)], ...annotation);
  });
  const footer = struct(
    [1, i32(1)],
    [2, list([root, ...columns])],
    [3, i64(rows)],
    [4, list(rows === 0 ? [] : [rowGroup])],
    [6, text("content-warehouse")],
  );
  return Uint8Array.from(footer[1]);
}
