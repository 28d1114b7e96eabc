/** Uploads files to a bucket: small ones in one request, large ones in parts. */
import { hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { S3Client } from "@aws-sdk/client-s3";
import { digestFile } from "../../warehouse/verify.ts";
import { changedFile } from "./checked-copy.ts";
import { errorName, type StoreRequest } from "./s3-errors.ts";
import type { FileContent } from "./store.ts";

/** Size of a part. It is held in memory, so that it can be sent again. */
const PIECE_BYTES = 8 * 1024 * 1024;
/** The protocol's limit. Files above 80 GB have larger parts. */
const MAX_PARTS = 10_000;
/** Time limit for removing the parts of a failed upload. */
const ABORT_MS = 5000;

export type S3Sdk = typeof import("@aws-sdk/client-s3");

/** Sends a request, retries it, and describes its failure. */
export type S3Request = <Result>(
  request: StoreRequest,
  send: (signal: AbortSignal) => Promise<Result>,
) => Promise<Result>;

export interface S3Bucket {
  readonly sdk: S3Sdk;
  readonly client: S3Client;
  readonly name: string;
  readonly ask: S3Request;
}

/** `key`: key in the store, for messages. `Key`: key in the bucket. */
interface Upload {
  readonly key: string;
  readonly Key: string;
  readonly file: string;
  readonly content: FileContent;
}

export async function uploadTo(bucket: S3Bucket, source: Upload): Promise<void> {
  const { file, content } = source;
  const found = await digestFile(file);
  if (found.bytes !== content.bytes || found.sha256 !== content.sha256) throw changedFile(file);
  await using handle = await open(file);
  await (content.bytes <= PIECE_BYTES ? uploadWhole : uploadParts)(bucket, source, handle);
}

async function uploadWhole(
  { sdk, client, name, ask }: S3Bucket,
  { key, Key, file, content }: Upload,
  handle: FileHandle,
): Promise<void> {
  const Body = await pieceOf(handle, file, 0, content.bytes);
  const ChecksumSHA256 = Buffer.from(content.sha256, "hex").toString("base64");
  const put = { Bucket: name, Key, Body, ChecksumSHA256 };
  await ask({ does: "write", key }, (abortSignal) =>
    client.send(new sdk.PutObjectCommand(put), { abortSignal }),
  );
}

async function uploadParts(
  { sdk, client, name, ask }: S3Bucket,
  { key, Key, file, content }: Upload,
  handle: FileHandle,
): Promise<void> {
  const request = { does: "write", key } as const;
  const create = { Bucket: name, Key, ChecksumAlgorithm: "SHA256" } as const;
  const { UploadId } = await ask(request, (abortSignal) =>
    client.send(new sdk.CreateMultipartUploadCommand(create), { abortSignal }),
  );
  const upload = { Bucket: name, Key, UploadId };
  const partBytes = Math.max(PIECE_BYTES, Math.ceil(content.bytes / MAX_PARTS));
  const Parts: { PartNumber: number; ChecksumSHA256: string; ETag: string | undefined }[] = [];
  try {
    for (let start = 0; start < content.bytes; start += partBytes) {
      const Body = await pieceOf(handle, file, start, Math.min(partBytes, content.bytes - start));
      const part = { PartNumber: Parts.length + 1, ChecksumSHA256: hash("sha256", Body, "base64") };
      const { ETag } = await ask(request, (abortSignal) =>
        client.send(new sdk.UploadPartCommand({ ...upload, ...part, Body }), { abortSignal }),
      );
      Parts.push({ ...part, ETag });
    }
    await ask(request, async (abortSignal) => {
      const complete = { ...upload, MultipartUpload: { Parts } };
      try {
        await client.send(new sdk.CompleteMultipartUploadCommand(complete), { abortSignal });
      } catch (thrown) {
        if (errorName(thrown) !== "NoSuchUpload") throw thrown;
        // The answer of an earlier attempt was lost: the parts are joined already.
        const head = new sdk.HeadObjectCommand({ Bucket: name, Key });
        const { ContentLength } = await client.send(head, { abortSignal });
        if (ContentLength !== content.bytes) throw thrown;
      }
    });
  } catch (thrown) {
    const abort = client.send(new sdk.AbortMultipartUploadCommand(upload), {
      abortSignal: AbortSignal.timeout(ABORT_MS),
    });
    // The first failure is the one to report. A lifecycle rule of the bucket removes parts that stay.
    await abort.catch(() => undefined);
    throw thrown;
  }
}

async function pieceOf(handle: FileHandle, file: string, start: number, bytes: number): Promise<Buffer> {
  const piece = Buffer.allocUnsafe(bytes);
  for (let filled = 0; filled < bytes; ) {
    const { bytesRead } = await handle.read(piece, filled, bytes - filled, start + filled);
    if (bytesRead === 0) throw changedFile(file);
    filled += bytesRead;
  }
  return piece;
}
