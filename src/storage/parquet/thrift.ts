/** Writes Thrift's compact protocol, as far as the metadata of a Parquet file need it. */

/** A field's value on its way out, under the number that the format's definition gives it. */
export type Value =
  | { readonly kind: "i32" | "i64"; readonly value: number }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "struct"; readonly fields: Fields }
  | { readonly kind: "list"; readonly of: ListKind; readonly values: readonly Listed[] };

type ListKind = "i32" | "text" | "struct";
/** What a list may hold. */
export type Listed = Exclude<Value, { readonly kind: "bool" }>;

/** Ascending by number. */
export type Fields = readonly (readonly [number: number, value: Value])[];

export const i32 = (value: number): Listed => ({ kind: "i32", value });
export const i64 = (value: number): Listed => ({ kind: "i64", value });
export const text = (value: string): Listed => ({ kind: "text", value });
export const bool = (value: boolean): Value => ({ kind: "bool", value });
export const struct = (...fields: Fields): Listed => ({ kind: "struct", fields });
export const list = (of: ListKind, values: readonly Listed[]): Listed => ({ kind: "list", of, values });

const TYPES = { true: 1, false: 2, i32: 5, i64: 6, text: 8, list: 9, struct: 12 };
/** Lengths and distances up to this stand in a header's own byte. */
const SHORT = 15;

export function encode(fields: Fields): Uint8Array {
  const bytes: number[] = [];
  writeFields(bytes, fields);
  return Uint8Array.from(bytes);
}

function typeOf(value: Value): number {
  return value.kind === "bool" ? TYPES[`${value.value}`] : TYPES[value.kind];
}

function writeFields(bytes: number[], fields: Fields): void {
  let last = 0;
  for (const [number, value] of fields) {
    bytes.push(((number - last) << 4) | typeOf(value));
    last = number;
    // The header of a boolean is its value.
    if (value.kind !== "bool") writeValue(bytes, value);
  }
  bytes.push(0);
}

function writeValue(bytes: number[], value: Listed): void {
  switch (value.kind) {
    case "i32":
    case "i64":
      // Zigzag; what is written here is never negative.
      writeVarint(bytes, value.value * 2);
      break;
    case "text": {
      const utf8 = Buffer.from(value.value);
      writeVarint(bytes, utf8.length);
      for (const byte of utf8) bytes.push(byte);
      break;
    }
    case "struct":
      writeFields(bytes, value.fields);
      break;
    case "list": {
      const { length } = value.values;
      bytes.push((Math.min(length, SHORT) << 4) | TYPES[value.of]);
      if (length >= SHORT) writeVarint(bytes, length);
      for (const each of value.values) writeValue(bytes, each);
    }
  }
}

/** Seven bits a byte, the least first. Up to 2^53. */
export function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}
