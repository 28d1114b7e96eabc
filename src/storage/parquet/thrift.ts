/** Writes the part of Thrift's compact protocol that the metadata of a Parquet file need. */

/** `type`: number of the type in the protocol. `write`: appends the value. */
export interface ThriftValue {
  readonly type: number;
  readonly write: (bytes: number[]) => void;
}

/** Values by their field numbers, in ascending order. */
export type ThriftFields = readonly (readonly [number: number, value: ThriftValue])[];

/** Lists below this length have it in the byte of their type. */
const SHORT = 15;

/** Zigzag encoding of a non-negative integer. */
const integer =
  (type: number) =>
  (value: number): ThriftValue => ({ type, write: (bytes) => writeVarint(bytes, value * 2) });

export const i32 = integer(5);
export const i64 = integer(6);

/** A boolean field, whose type is its value. It cannot be an element of a list. */
export const bool = (value: boolean): ThriftValue => ({ type: value ? 1 : 2, write: () => {} });

export const text = (value: string): ThriftValue => ({
  type: 8,
  write: (bytes) => {
    const utf8 = Buffer.from(value);
    writeVarint(bytes, utf8.length);
    for (const byte of utf8) bytes.push(byte);
  },
});

export const struct = (...fields: ThriftFields): ThriftValue => ({
  type: 12,
  write: (bytes) => writeFields(bytes, fields),
});

/** A list of values of one type. An empty list counts as one of structures. */
export const list = (values: readonly ThriftValue[]): ThriftValue => ({
  type: 9,
  write: (bytes) => {
    const { length } = values;
    bytes.push((Math.min(length, SHORT) << 4) | (values[0] ?? struct()).type);
    if (length >= SHORT) writeVarint(bytes, length);
    for (const value of values) value.write(bytes);
  },
});

export function encode(fields: ThriftFields): Uint8Array {
  const bytes: number[] = [];
  writeFields(bytes, fields);
  return Uint8Array.from(bytes);
}

function writeFields(bytes: number[], fields: ThriftFields): void {
  let last = 0;
  for (const [number, value] of fields) {
    bytes.push(((number - last) << 4) | value.type);
    last = number;
    value.write(bytes);
  }
  bytes.push(0);
}

/** Seven bits per byte, the lowest first. Up to 2^53. */
export function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}
