/** A store in a bucket of Amazon S3, or of one that speaks its protocol and honours `If-None-Match`. */
import { hash } from "node:crypto";
import { allowedNodeEnvironmentFlags } from "node:process";
import type {
  GetObjectCommandOutput,
  ListObjectsV2CommandInput,
  ListObjectsV2CommandOutput,
  S3Client,
  S3ClientConfig,
} from "@aws-sdk/client-s3";
import { systemClock } from "../../common/clock.ts";
import { WarehouseError } from "../../common/errors.ts";
import { importPeers } from "../../common/import-module.ts";
import { type HttpProxy, type ProxyFor, reachedBy } from "../../common/proxy.ts";
import { changedObject, createFile, missingObject, writeChecked } from "./checked-copy.ts";
import { errorName, type StoreNames, statusOf, storeError } from "./s3-errors.ts";
import { type S3Bucket, type S3Request, type S3Sdk, uploadTo } from "./s3-upload.ts";
import { checkKey, type FileContent, overwriteError, type Store, type StoredObject } from "./store.ts";

/** Optional peer dependency for buckets, in the version of package.json. */
export const S3_SDK = "@aws-sdk/client-s3@3.1175.0";

/** A connection without traffic for this long is given up. Stores send blanks while they join parts. */
const IDLE_MS = 60_000;
const CONNECT_MS = 10_000;
/** Attempts at a request, within about half a minute. */
const MAX_ATTEMPTS = 8;
const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 10_000;
/** Largest object that is read into memory: a commit or a checkpoint. */
const MAX_OBJECT_BYTES = 256 * 1024 * 1024;
/** The protocol's limit for one request. */
const MAX_REMOVED = 1000;

/** Sleeps; rejects with the signal's reason once it is aborted. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export const sleepWithJitter: Sleep = (milliseconds, signal) =>
  systemClock.sleep(milliseconds * Math.random(), signal);

/** Credentials are not among the settings: they come from where the AWS tools look. */
export interface S3Settings {
  /** An S3-compatible store: `https://minio.example.com:9000`. Amazon's by default. */
  readonly endpoint?: string | undefined;
  /** Whether the bucket is part of the path in addresses. By default it is if there is an `endpoint`. */
  readonly pathStyle?: boolean | undefined;
  readonly region?: string | undefined;
}

/** `prefix`: empty, or ends with a slash. Throws `config.invalid` if the SDK is not installed. */
export async function openS3Store(
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
  { proxyFor = () => null, ...settings }: S3Settings & { readonly proxyFor?: ProxyFor },
  signal: AbortSignal,
  { sleep = sleepWithJitter, idleMs = IDLE_MS }: { readonly sleep?: Sleep; readonly idleMs?: number } = {},
): Promise<Store> {
  const importing = () => import("@aws-sdk/client-s3");
  const sdk = await importPeers("A target in a bucket", [S3_SDK], importing);
  const { endpoint, region } = settings;
  const proxy = tunnelled(proxyFor, endpoint ?? `https://${bucket}.s3.${region ?? "region"}.amazonaws.com`);
  const client = makeClient(sdk, settings, { idleMs, proxy });
  const asked = reachedBy(endpoint ?? "Amazon S3", proxy);
  const store: StoreNames = { address: `s3://${bucket}/${prefix}`, bucket, endpoint: asked };
  const closing = new AbortController();
  const ask = retrying(store, AbortSignal.any([signal, closing.signal]), sleep);
  return new S3Store({ sdk, client, name: bucket, ask }, store.address, prefix, closing);
}

/** The proxy for an https address. Throws `config.invalid` if this version of Node cannot use one for a bucket. */
function tunnelled(proxyFor: ProxyFor, address: string): HttpProxy | null {
  const url = new URL(address);
  const proxy = url.protocol === "https:" ? proxyFor(url) : null;
  if (proxy === null || allowedNodeEnvironmentFlags.has("--use-env-proxy")) return proxy;
  throw new WarehouseError(
    "config.invalid",
    `This version of Node cannot reach a bucket through a proxy (${proxy.namedIn}); use 22.21 or 24.5, or newer, or name ${url.hostname} in NO_PROXY.`,
  );
}

/** Retries failed requests. `ending`: the store's own signal. */
function retrying(store: StoreNames, ending: AbortSignal, sleep: Sleep): S3Request {
  return async (request, send) => {
    for (let failures = 0; ; failures++) {
      try {
        ending.throwIfAborted();
        return await send(ending);
      } catch (thrown) {
        if (ending.aborted) throw ending.reason;
        const error = storeError(thrown, store, request);
        if (!error.retry || failures + 1 === MAX_ATTEMPTS) throw error;
      }
      await sleep(Math.min(FIRST_WAIT_MS * 2 ** failures, MAX_WAIT_MS), ending);
    }
  };
}

class S3Store implements Store {
  readonly address: string;
  readonly #bucket: S3Bucket;
  /** Empty, or ends with a slash. */
  readonly #prefix: string;
  readonly #closing: AbortController;

  constructor(bucket: S3Bucket, address: string, prefix: string, closing: AbortController) {
    this.address = address;
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#closing = closing;
  }

  async get(key: string): Promise<Buffer | null> {
    const Key = this.#keyOf(key);
    return await this.#bucket.ask({ does: "read", key }, async (abortSignal) => {
      const found = await this.#find(Key, abortSignal, "ENABLED");
      return found === null ? null : await bytesOf(found, this.address, key);
    });
  }

  async putNew(key: string, body: Uint8Array): Promise<boolean> {
    const Key = this.#keyOf(key);
    return await this.#bucket.ask({ does: "write", key }, async (abortSignal) => {
      try {
        await this.#put(Key, body, abortSignal, "*");
        return true;
      } catch (thrown) {
        if (statusOf(thrown) === 412) return false;
        if (statusOf(thrown) === 501 || errorName(thrown) === "NotImplemented")
          throw overwriteError(this.address);
        throw thrown;
      }
    });
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    const Key = this.#keyOf(key);
    await this.#bucket.ask({ does: "write", key }, (abortSignal) => this.#put(Key, body, abortSignal));
  }

  async upload(key: string, file: string, content: FileContent): Promise<void> {
    await uploadTo(this.#bucket, { key, Key: this.#keyOf(key), file, content });
  }

  async download(key: string, file: string, content: FileContent): Promise<void> {
    const Key = this.#keyOf(key);
    await this.#bucket.ask({ does: "read", key }, async (abortSignal) => {
      const found = await this.#find(Key, abortSignal);
      if (found === null) throw missingObject(this.address, key);
      await createFile(file, async (handle) => {
        if (!(await writeChecked(streamOf(found), handle, content))) throw changedObject(this.address, key);
      });
    });
  }

  async *list(keyPrefix: string, { after }: { readonly after?: string } = {}): AsyncGenerator<StoredObject> {
    const begin = after === undefined ? {} : { StartAfter: this.#prefix + after };
    for await (const { Contents = [] } of this.#pages(keyPrefix, begin)) {
      for (const { Key = "", Size = 0, LastModified } of Contents) {
        const key = Key.slice(this.#prefix.length);
        // Some stores list folders as objects.
        if (!key.endsWith("/")) yield { key, bytes: Size, modifiedMs: LastModified?.getTime() ?? 0 };
      }
    }
  }

  async folders(keyPrefix: string): Promise<string[]> {
    const found = await Array.fromAsync(this.#pages(keyPrefix, { Delimiter: "/" }));
    const names = found.flatMap(({ CommonPrefixes = [] }) => CommonPrefixes.map(({ Prefix = "" }) => Prefix));
    return names.map((name) => name.slice(this.#prefix.length + keyPrefix.length));
  }

  async remove(keys: readonly string[]): Promise<void> {
    const { sdk, client, name, ask } = this.#bucket;
    const all = keys.map((key) => ({ Key: this.#keyOf(key) }));
    for (let first = 0; first < all.length; first += MAX_REMOVED) {
      const Objects = all.slice(first, first + MAX_REMOVED);
      await ask({ does: "remove", key: keys[first] ?? "" }, async (abortSignal) => {
        const command = new sdk.DeleteObjectsCommand({ Bucket: name, Delete: { Objects, Quiet: true } });
        const { Errors = [] } = await client.send(command, { abortSignal });
        const failed = Errors.find(({ Code }) => Code !== "NoSuchKey");
        if (failed !== undefined) throw Object.assign(new Error(), { name: failed.Code ?? "" });
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new WarehouseError("target.unavailable", `${this.address} was closed.`));
    this.#bucket.client.destroy();
  }

  #keyOf(key: string): string {
    checkKey(this.address, key);
    return this.#prefix + key;
  }

  #put(Key: string, body: Uint8Array, abortSignal: AbortSignal, IfNoneMatch?: "*") {
    const { sdk, client, name } = this.#bucket;
    const ChecksumSHA256 = hash("sha256", body, "base64");
    const object = { Bucket: name, Key, Body: body, ChecksumSHA256, IfNoneMatch };
    return client.send(new sdk.PutObjectCommand(object), { abortSignal });
  }

  /** `null` if there is no such object. */
  async #find(Key: string, abortSignal: AbortSignal, ChecksumMode?: "ENABLED") {
    const { sdk, client, name } = this.#bucket;
    try {
      const command = new sdk.GetObjectCommand({ Bucket: name, Key, ChecksumMode });
      return await client.send(command, { abortSignal });
    } catch (thrown) {
      // Status 404 alone may also mean an unknown bucket or user.
      if (["NoSuchKey", "NotFound"].includes(errorName(thrown))) return null;
      throw thrown;
    }
  }

  async *#pages(
    key: string,
    which: Pick<ListObjectsV2CommandInput, "StartAfter" | "Delimiter">,
  ): AsyncGenerator<ListObjectsV2CommandOutput> {
    const { sdk, client, name, ask } = this.#bucket;
    let token: string | undefined;
    do {
      const asked = { Bucket: name, Prefix: this.#prefix + key, ...which, ContinuationToken: token };
      const command = new sdk.ListObjectsV2Command(asked);
      const page = await ask({ does: "list", key }, (abortSignal) => client.send(command, { abortSignal }));
      yield page;
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }
}

/**
 * Credentials come from where the AWS tools look: environment, files and profiles, roles of containers and machines. The
 * client does not retry, because `retrying` also covers reading the answer.
 */
function makeClient(
  sdk: S3Sdk,
  { endpoint, region, pathStyle }: S3Settings,
  { idleMs, proxy }: { readonly idleMs: number; readonly proxy: HttpProxy | null },
): S3Client {
  const config: S3ClientConfig = {
    forcePathStyle: pathStyle ?? endpoint !== undefined,
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: idleMs,
      ...(proxy !== null && { httpsAgent: { proxyEnv: { HTTPS_PROXY: proxy.url.reveal() } } }),
    },
    // Each put has a SHA-256 of its own. Other stores than Amazon's refuse digests that they do not know.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  };
  if (endpoint !== undefined) config.endpoint = endpoint;
  // Compatible stores seldom have regions, but each signature needs one.
  const signed = region ?? (endpoint === undefined ? undefined : "us-east-1");
  if (signed !== undefined) config.region = signed;
  return new sdk.S3Client(config);
}

/** In Node the body is always a stream. */
function streamOf({ Body }: GetObjectCommandOutput): AsyncIterable<Uint8Array> {
  return Body as unknown as AsyncIterable<Uint8Array>;
}

async function bytesOf(found: GetObjectCommandOutput, address: string, key: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of streamOf(found)) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes <= MAX_OBJECT_BYTES) continue;
    throw new WarehouseError(
      "target.refused",
      `${key} in ${address} is larger than 256 MiB, so this program did not write it; find out which program did.`,
    );
  }
  return Buffer.concat(pieces);
}
