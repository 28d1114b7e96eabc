/** Puts files into a bucket: small ones in one piece, large ones in parts beside each other. */
import { hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { S3Client } from "@aws-sdk/client-s3";
import PQueue from "p-queue";
import { digestOf } from "../../warehouse/verify.ts";
import { changedFile } from "./checked-copy.ts";
import { errorName, type StoreRequest, statusOf } from "./s3-errors.ts";
import type { FileContent } from "./store.ts";

/** Pieces lie in memory, so that one can be sent again: this times the pieces at once is what uploads take. */
const PIECE_BYTES = 8 * 1024 * 1024;
const PIECES_AT_ONCE = 8;
/** The protocol's limit: files above 80 GB have larger pieces. */
const MAX_PARTS = 10_000;
/** An upload that failed is taken back within this time, or by the bucket's own rule. */
const ABORT_MS = 5000;

export type Sdk = typeof import("@aws-sdk/client-s3");

/** One request, tried again and told as a store does it. `also`: ends it besides the store's own signal. */
export type Ask = <Result>(
  request: StoreRequest,
  send: (signal: AbortSignal) => Promise<Result>,
  also?: AbortSignal,
) => Promise<Result>;

export interface Bucket {
  readonly sdk: Sdk;
  readonly client: S3Client;
  readonly name: string;
  readonly ask: Ask;
}

/** A file that is to be an object. `key`: in the store, for messages; `Key`: in the bucket. */
interface Source {
  readonly key: string;
  readonly Key: string;
  readonly file: string;
  readonly handle: FileHandle;
  readonly content: FileContent;
}

export type Upload = (object: Omit<Source, "handle">) => Promise<void>;

/** Uploads into one bucket share its pieces. */
export function uploadsTo(bucket: Bucket): Upload {
  const pieces = new PQueue({ concurrency: PIECES_AT_ONCE });
  return async (object) => {
    const { file, content } = object;
    const found = await digestOf(file);
    if (found.bytes !== content.bytes || found.sha256 !== content.sha256) throw changedFile(file);
    if (await isThere(bucket, object)) return;
    await using handle = await open(file);
    const upload = content.bytes <= PIECE_BYTES ? inOnePiece : inParts;
    await upload(bucket, pieces, { ...object, handle });
  };
}

/** Stores that keep the digest of what was put in one piece are asked for it. */
async function isThere(
  { sdk, client, name, ask }: Bucket,
  { key, Key, content }: Omit<Source, "handle">,
): Promise<boolean> {
  const found = await ask({ does: "read", key }, async (abortSignal) => {
    try {
      const head = new sdk.HeadObjectCommand({ Bucket: name, Key, ChecksumMode: "ENABLED" });
      return await client.send(head, { abortSignal });
    } catch (thrown) {
      if (statusOf(thrown) === 404) return null;
      throw thrown;
    }
  });
  if (found === null || found.ContentLength !== content.bytes) return false;
  const digest = found.ChecksumSHA256;
  const isOfParts = digest?.includes("-") ?? true;
  return isOfParts || digest === inBase64(content.sha256) || found.ChecksumType === "COMPOSITE";
}

async function inOnePiece({ sdk, client, name, ask }: Bucket, pieces: PQueue, source: Source): Promise<void> {
  const { key, Key, content } = source;
  await pieces.add(async () => {
    const Body = await pieceOf(source, 0, content.bytes);
    const put = { Bucket: name, Key, Body, ChecksumSHA256: inBase64(content.sha256) };
    await ask({ does: "write", key }, (abortSignal) =>
      client.send(new sdk.PutObjectCommand(put), { abortSignal }),
    );
  });
}

async function inParts(bucket: Bucket, pieces: PQueue, source: Source): Promise<void> {
  const { sdk, client, name, ask } = bucket;
  const { key, Key } = source;
  const request = { does: "write", key } as const;
  const create = { Bucket: name, Key, ChecksumAlgorithm: "SHA256" } as const;
  const { UploadId } = await ask(request, (abortSignal) =>
    client.send(new sdk.CreateMultipartUploadCommand(create), { abortSignal }),
  );
  const upload = { Bucket: name, Key, UploadId };
  try {
    const Parts = await sendParts(bucket, pieces, source, upload);
    await ask(request, async (abortSignal) => {
      const complete = { ...upload, MultipartUpload: { Parts } };
      try {
        await client.send(new sdk.CompleteMultipartUploadCommand(complete), { abortSignal });
      } catch (thrown) {
        // The answer of an attempt before was lost: the parts are joined already.
        if (errorName(thrown) !== "NoSuchUpload" || !(await isThere(bucket, source))) throw thrown;
      }
    });
  } catch (thrown) {
    const abort = client.send(new sdk.AbortMultipartUploadCommand(upload), {
      abortSignal: AbortSignal.timeout(ABORT_MS),
    });
    // The failure before this one is the one to tell, and parts that stay are the bucket's rule to remove.
    await abort.catch(() => undefined);
    throw thrown;
  }
}

/** Ends when all parts have: after the first failure the others are aborted. */
async function sendParts(
  { sdk, client, ask }: Bucket,
  pieces: PQueue,
  source: Source,
  upload: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined },
) {
  const { key, content } = source;
  const failed = new AbortController();
  const partBytes = Math.max(PIECE_BYTES, Math.ceil(content.bytes / MAX_PARTS));
  const send = async (index: number) => {
    failed.signal.throwIfAborted();
    const start = index * partBytes;
    const Body = await pieceOf(source, start, Math.min(partBytes, content.bytes - start));
    const part = { PartNumber: index + 1, ChecksumSHA256: hash("sha256", Body, "base64") };
    const { ETag } = await ask(
      { does: "write", key },
      (abortSignal) => client.send(new sdk.UploadPartCommand({ ...upload, ...part, Body }), { abortSignal }),
      failed.signal,
    );
    return { ...part, ETag };
  };
  const sending = Array.from({ length: Math.ceil(content.bytes / partBytes) }, (_, index) =>
    pieces.add(() => send(index)),
  );
  for (const part of sending) part.catch((thrown) => failed.abort(thrown));
  await Promise.allSettled(sending);
  failed.signal.throwIfAborted();
  return await Promise.all(sending);
}

async function pieceOf({ handle, file }: Source, start: number, bytes: number): Promise<Buffer> {
  const piece = Buffer.allocUnsafe(bytes);
  for (let filled = 0; filled < bytes; ) {
    const { bytesRead } = await handle.read(piece, filled, bytes - filled, start + filled);
    if (bytesRead === 0) throw changedFile(file);
    filled += bytesRead;
  }
  return piece;
}

function inBase64(hexadecimal: string): string {
  return Buffer.from(hexadecimal, "hex").toString("base64");
}
