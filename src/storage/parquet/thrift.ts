/** Thrift's compact protocol, as far as the metadata of a Parquet file need it. */

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

const TYPES = {
  true: 1,
  false: 2,
  i8: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  text: 8,
  list: 9,
  set: 10,
  struct: 12,
};
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

/** A value as it was read: structs by the numbers of their fields, text as its bytes. */
export type Read = number | boolean | Uint8Array | readonly Read[] | ReadStruct;
export type ReadStruct = ReadonlyMap<number, Read>;

/** Reads one struct after another from bytes. */
export class Reader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  struct(): ReadStruct {
    const fields = new Map<number, Read>();
    let number = 0;
    for (let header = this.#byte(); header !== 0; header = this.#byte()) {
      const distance = header >> 4;
      number = distance === 0 ? this.#zigzag() : number + distance;
      fields.set(number, this.#value(header & 15, false));
    }
    return fields;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  #zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #byte(): number {
    const byte = this.#bytes[this.at];
    if (byte === undefined) throw new RangeError("the metadata end in the middle");
    this.at += 1;
    return byte;
  }

  /** A boolean field is its type alone, one in a list a byte. */
  #value(type: number, listed: boolean): Read {
    switch (type) {
      case TYPES.true:
      case TYPES.false:
        return (listed ? this.#byte() : type) === TYPES.true;
      case TYPES.i8:
        return this.#byte();
      case TYPES.i16:
      case TYPES.i32:
      case TYPES.i64:
        return this.#zigzag();
      case TYPES.text:
        return this.#taken(this.varint());
      case TYPES.list:
      case TYPES.set:
        return this.#list();
      case TYPES.struct:
        return this.struct();
      default:
        throw new RangeError(`the metadata have a value of the unknown type ${type}`);
    }
  }

  #list(): Read[] {
    const header = this.#byte();
    const short = header >> 4;
    const length = short === SHORT ? this.varint() : short;
    return Array.from({ length }, () => this.#value(header & 15, true));
  }

  #taken(length: number): Uint8Array {
    if (this.at + length > this.#bytes.length) throw new RangeError("the metadata end in the middle");
    const taken = this.#bytes.subarray(this.at, this.at + length);
    this.at += length;
    return taken;
  }
}
