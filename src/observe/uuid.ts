import { createHash } from "node:crypto";

/**
 * A UUID of version 7 whose time is the given one and whose random part is a digest of the text: the same for the same
 * of both, and in the order of the times.
 */
export function uuidOf(atMs: number, text: string): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.floor(atMs), 0, 6);
  createHash("sha256").update(text).digest().copy(bytes, 6, 0, 10);
  bytes[6] = 0x70 | (bytes.readUInt8(6) & 0x0f);
  bytes[8] = 0x80 | (bytes.readUInt8(8) & 0x3f);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
