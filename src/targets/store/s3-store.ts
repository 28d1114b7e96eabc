/** A store in a bucket of Amazon S3, or of one that speaks its protocol and honours `If-None-Match`. */
import { hash } from "node:crypto";
import type {
  GetObjectCommandOutput,
  ListObjectsV2CommandInput,
  ListObjectsV2CommandOutput,
  S3Client,
} from "@aws-sdk/client-s3";
import { WarehouseError } from "../../common/errors.ts";
import { checkKey, type StoreAddress, type StoreOptions } from "./address.ts";
import { changedObject, missingObject, newFile, writeChecked } from "./checked-copy.ts";
import { overwrites } from "./probe.ts";
import { retried, type Sleep, sleepWithJitter } from "./retry.ts";
import { importSdk, makeClient } from "./s3-client.ts";
import { type AskedStore, errorName, statusOf, storeError } from "./s3-errors.ts";
import { type Ask, type ObjectName, uploadsTo } from "./s3-upload.ts";
import type { Store } from "./store.ts";

/** Objects that are read into memory: commits, checkpoints, claims. */
const MAX_OBJECT_BYTES = 256 * 1024 * 1024;
/** The protocol's limit of a request. */
const MAX_REMOVED = 1000;

/** What a test sets. */
export interface S3Conditions {
  readonly sleep?: Sleep;
  readonly idleMs?: number;
}

/** Throws `config.invalid` where the SDK is not installed. */
export async function openS3Store(
  { bucket, prefix }: Extract<StoreAddress, { kind: "s3" }>,
  options: StoreOptions,
  signal: AbortSignal,
  { sleep = sleepWithJitter, idleMs }: S3Conditions = {},
): Promise<Store> {
  const sdk = await importSdk();
  const client = makeClient(sdk, options, idleMs);
  const store: AskedStore = { address: `s3://${bucket}/${prefix}`, bucket, endpoint: options.endpoint };
  const { address } = store;
  const closing = new AbortController();
  const ending = AbortSignal.any([signal, closing.signal]);

  const ask: Ask = async (request, send, also) => {
    const either = also === undefined ? ending : AbortSignal.any([ending, also]);
    const attempt = async () => {
      try {
        return await send(either);
      } catch (thrown) {
        throw storeError(thrown, store, request);
      }
    };
    return await retried(attempt, either, sleep);
  };
  const named = (key: string): ObjectName => {
    checkKey(address, key);
    return { key, Key: prefix + key };
  };
  const asPut = (Key: string, body: Uint8Array) => ({
    Bucket: bucket,
    Key,
    Body: body,
    ChecksumSHA256: hash("sha256", body, "base64"),
  });
  const pages = async function* (
    key: string,
    which: Pick<ListObjectsV2CommandInput, "StartAfter" | "Delimiter">,
  ): AsyncGenerator<ListObjectsV2CommandOutput> {
    let token: string | undefined;
    do {
      const asked = { Bucket: bucket, Prefix: prefix + key, ...which, ContinuationToken: token };
      const command = new sdk.ListObjectsV2Command(asked);
      const page = await ask({ does: "list", key }, (abortSignal) => client.send(command, { abortSignal }));
      yield page;
      token = page.NextContinuationToken;
    } while (token !== undefined);
  };
  const upload = uploadsTo({ sdk, client, name: bucket, ask });

  return {
    address,
    get: async (key) => {
      const { Key } = named(key);
      return await ask({ does: "read", key }, async (abortSignal) => {
        const found = await find(
          client,
          new sdk.GetObjectCommand({ Bucket: bucket, Key, ChecksumMode: "ENABLED" }),
          abortSignal,
        );
        return found === null ? null : await bytesOf(found, address, key);
      });
    },
    putNew: async (key, body) => {
      const { Key } = named(key);
      return await ask({ does: "write", key }, async (abortSignal) => {
        try {
          const put = new sdk.PutObjectCommand({ ...asPut(Key, body), IfNoneMatch: "*" });
          await client.send(put, { abortSignal });
          return true;
        } catch (thrown) {
          if (statusOf(thrown) === 412) return false;
          if (statusOf(thrown) === 501 || errorName(thrown) === "NotImplemented") throw overwrites(address);
          throw thrown;
        }
      });
    },
    put: async (key, body) => {
      const { Key } = named(key);
      await ask({ does: "write", key }, (abortSignal) =>
        client.send(new sdk.PutObjectCommand(asPut(Key, body)), { abortSignal }),
      );
    },
    upload: async (key, file, content) => await upload(named(key), file, content),
    download: async (key, file, content) => {
      const { Key } = named(key);
      const fetch = async (abortSignal: AbortSignal) => {
        const found = await find(client, new sdk.GetObjectCommand({ Bucket: bucket, Key }), abortSignal);
        if (found === null) throw missingObject(address, key);
        await newFile(file, async (handle) => {
          const isSame = await writeChecked(streamOf(found), handle, content);
          if (!isSame) throw changedObject(address, key);
        });
      };
      await ask({ does: "read", key }, fetch);
    },
    list: async function* (keyPrefix, { after } = {}) {
      const begin = after === undefined ? {} : { StartAfter: prefix + after };
      for await (const { Contents = [] } of pages(keyPrefix, begin)) {
        for (const { Key = "", Size = 0, LastModified } of Contents) {
          const key = Key.slice(prefix.length);
          // Some stores list the folders themselves.
          if (!key.endsWith("/")) yield { key, bytes: Size, modifiedMs: LastModified?.getTime() ?? 0 };
        }
      }
    },
    folders: async (keyPrefix) => {
      const names: string[] = [];
      for await (const { CommonPrefixes = [] } of pages(keyPrefix, { Delimiter: "/" })) {
        for (const { Prefix = "" } of CommonPrefixes)
          names.push(Prefix.slice(prefix.length + keyPrefix.length));
      }
      return names;
    },
    remove: async (keys) => {
      const all = keys.map(named);
      for (let first = 0; first < all.length; first += MAX_REMOVED) {
        const Objects = all.slice(first, first + MAX_REMOVED).map(({ Key }) => ({ Key }));
        await ask({ does: "remove", key: keys[first] ?? "" }, async (abortSignal) => {
          const command = new sdk.DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
          const { Errors = [] } = await client.send(command, { abortSignal });
          const failed = Errors.find(({ Code }) => Code !== "NoSuchKey");
          if (failed !== undefined) throw Object.assign(new Error(), { name: failed.Code ?? "" });
        });
      }
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort(new WarehouseError("target.unavailable", `${address} was closed.`));
      client.destroy();
    },
  };
}

type GetObject = InstanceType<typeof import("@aws-sdk/client-s3").GetObjectCommand>;

/** Null: there is no such object. */
async function find(
  client: S3Client,
  command: GetObject,
  abortSignal: AbortSignal,
): Promise<GetObjectCommandOutput | null> {
  try {
    return await client.send(command, { abortSignal });
  } catch (thrown) {
    // A status of 404 says too little: some answer so where the bucket, or whoever asks, is unknown.
    if (["NoSuchKey", "NotFound"].includes(errorName(thrown))) return null;
    throw thrown;
  }
}

/** In Node the body is a stream, and there always is one. */
function streamOf({ Body }: GetObjectCommandOutput): AsyncIterable<Uint8Array> {
  return Body as unknown as AsyncIterable<Uint8Array>;
}

async function bytesOf(found: GetObjectCommandOutput, address: string, key: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of streamOf(found)) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MAX_OBJECT_BYTES) throw tooLarge(address, key);
  }
  return Buffer.concat(pieces);
}

function tooLarge(address: string, key: string): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `${key} in ${address} is larger than 256 MiB, which no log of ours is; see which program wrote it.`,
  );
}
