import { createHash } from "node:crypto";
import { SourceError } from "./source-error.ts";

export interface Body {
  /** In a buffer of its own. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** The whole body as it comes, and its SHA-256. Leaving the loop early destroys it, and with it its connection. */
export async function readBody(pieces: AsyncIterable<Uint8Array>, capBytes: number): Promise<Body> {
  const hash = createHash("sha256");
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > capBytes) throw tooLarge(capBytes);
    hash.update(piece);
    kept.push(piece);
  }
  return { body: joined(kept, bytes), sha256: hash.digest("hex") };
}

/** The status of a failure counts, whatever becomes of its body: as much of that as comes, up to the cap. */
export async function readFailure(pieces: AsyncIterable<Uint8Array>, capBytes: number): Promise<Body> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      kept.push(piece.subarray(0, capBytes - bytes));
      bytes += Math.min(piece.length, capBytes - bytes);
      if (bytes === capBytes) break;
    }
  } catch {
    // The connection broke after the status had come.
  }
  const body = joined(kept, bytes);
  return { body, sha256: createHash("sha256").update(body).digest("hex") };
}

/** In a buffer that is not filled with zeros before. */
function joined(pieces: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function tooLarge(capBytes: number): SourceError {
  const cap = `${Math.floor(capBytes / 1024 / 1024)} MB`;
  return new SourceError(
    "source.too_large",
    `The service sent more than ${cap} at once; set a smaller \`perPage\` in the configuration.`,
  );
}
