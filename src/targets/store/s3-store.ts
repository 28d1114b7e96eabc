/** A store in a bucket of Amazon S3, or of one that speaks its protocol and honours `If-None-Match`. */
import { hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { allowedNodeEnvironmentFlags } from "node:process";
import type { Readable } from "node:stream";
import type {
  ListObjectsV2CommandInput,
  ListObjectsV2CommandOutput,
  S3,
  S3ClientConfig,
} from "@aws-sdk/client-s3";
import { systemClock } from "../../common/clock.ts";
import { WarehouseError } from "../../common/errors.ts";
import { importPeers } from "../../common/import-module.ts";
import { type HttpProxy, type ProxyFor, reachedBy } from "../../common/proxy.ts";
import { digestFile } from "../../warehouse/verify.ts";
import { errorName, statusOf, storeError } from "./s3-errors.ts";
import {
  changedFile,
  changedObject,
  checkKey,
  createFile,
  type FileContent,
  missingObject,
  overwriteError,
  type Store,
  type StoredObject,
  writeChecked,
} from "./store.ts";

/** Optional peer dependency for buckets, in the newest version tested. */
const S3_SDK = "@aws-sdk/client-s3@3.1175.0";

/** A connection without traffic for this long is given up. */
const IDLE_MS = 60_000;
const CONNECT_MS = 10_000;
/** Attempts at a request, within about half a minute. */
const MAX_ATTEMPTS = 8;
const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 10_000;
/** The protocol's limit for one request. */
const MAX_REMOVED = 1000;

/** Sleeps; rejects with the signal's reason once it is aborted. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export const sleepWithJitter: Sleep = (milliseconds, signal) =>
  systemClock.sleep(milliseconds * Math.random(), signal);

/** Credentials are not among the settings: they come from where the AWS tools look. */
interface S3Settings {
  /** An S3-compatible store: `https://minio.example.com:9000`. Amazon's by default. */
  readonly endpoint?: string | undefined;
  /** Whether the bucket is part of the path in addresses. By default it is if there is an `endpoint`. */
  readonly pathStyle?: boolean | undefined;
  readonly region?: string | undefined;
}

/** Sends a request, retries it, and describes its failure. `key`: of the object, or the prefix of a list. */
type S3Request = <Result>(
  does: "read" | "write" | "list" | "remove",
  key: string,
  send: (options: { readonly abortSignal: AbortSignal }) => Promise<Result>,
) => Promise<Result>;

/** `prefix`: empty, or ends with a slash. Throws `config.package` if the SDK is not installed. */
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
  const client = new sdk.S3(configOf(settings, idleMs, proxy));
  const names = { address: `s3://${bucket}/${prefix}`, endpoint: reachedBy(endpoint ?? "Amazon S3", proxy) };
  const closing = new AbortController();
  const abortSignal = AbortSignal.any([signal, closing.signal]);
  const ask: S3Request = async (does, key, send) => {
    for (let failures = 0; ; failures++) {
      try {
        abortSignal.throwIfAborted();
        return await send({ abortSignal });
      } catch (thrown) {
        if (abortSignal.aborted) throw abortSignal.reason;
        const error = storeError(thrown, { ...names, does, key });
        if (!error.retry || failures + 1 === MAX_ATTEMPTS) throw error;
      }
      await sleep(Math.min(FIRST_WAIT_MS * 2 ** failures, MAX_WAIT_MS), abortSignal);
    }
  };
  return new S3Store(names.address, { client, bucket, prefix, ask, closing });
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

interface S3Connection {
  readonly client: S3;
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  readonly ask: S3Request;
  readonly closing: AbortController;
}

class S3Store implements Store {
  readonly address: string;
  readonly #s3: S3Connection;

  constructor(address: string, connection: S3Connection) {
    this.address = address;
    this.#s3 = connection;
  }

  async get(key: string): Promise<Buffer | null> {
    const object = { ...this.#object(key), ChecksumMode: "ENABLED" } as const;
    return await this.#s3.ask("read", key, async (options) => {
      const found = await orNull(this.#s3.client.getObject(object, options));
      return found?.Body === undefined ? null : Buffer.from(await found.Body.transformToByteArray());
    });
  }

  putNew(key: string, body: Uint8Array): Promise<boolean> {
    return this.#put(key, contentOf(body), () => body, { IfNoneMatch: "*" });
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    await this.#put(key, contentOf(body), () => body);
  }

  async upload(key: string, file: string, content: FileContent): Promise<void> {
    const { bytes, sha256 } = await digestFile(file);
    if (bytes !== content.bytes || sha256 !== content.sha256) throw changedFile(file);
    await this.#put(key, content, () => createReadStream(file));
  }

  async download(key: string, file: string, content: FileContent): Promise<void> {
    const object = this.#object(key);
    await this.#s3.ask("read", key, async (options) => {
      const found = await orNull(this.#s3.client.getObject(object, options));
      if (found === null) throw missingObject(this.address, key);
      await createFile(file, async (handle) => {
        // In Node the body is always a stream.
        const body = found.Body as unknown as AsyncIterable<Uint8Array>;
        if (!(await writeChecked(body, handle, content))) throw changedObject(this.address, key);
      });
    });
  }

  async *list(keyPrefix: string, { after }: { readonly after?: string } = {}): AsyncGenerator<StoredObject> {
    const begin = after === undefined ? {} : { StartAfter: this.#s3.prefix + after };
    for await (const { Contents = [] } of this.#pages(keyPrefix, begin)) {
      for (const { Key = "", Size = 0, LastModified } of Contents) {
        const key = Key.slice(this.#s3.prefix.length);
        // Some stores list folders as objects.
        if (!key.endsWith("/")) yield { key, bytes: Size, modifiedMs: LastModified?.getTime() ?? 0 };
      }
    }
  }

  async folders(keyPrefix: string): Promise<string[]> {
    const found = await Array.fromAsync(this.#pages(keyPrefix, { Delimiter: "/" }));
    const names = found.flatMap(({ CommonPrefixes = [] }) => CommonPrefixes.map(({ Prefix = "" }) => Prefix));
    return names.map((name) => name.slice(this.#s3.prefix.length + keyPrefix.length));
  }

  async remove(keys: readonly string[]): Promise<void> {
    const all = keys.map((key) => ({ Key: this.#object(key).Key }));
    for (let first = 0; first < all.length; first += MAX_REMOVED) {
      const Delete = { Objects: all.slice(first, first + MAX_REMOVED), Quiet: true };
      await this.#s3.ask("remove", keys[first] ?? "", async (options) => {
        const { Errors = [] } = await this.#s3.client.deleteObjects(
          { Bucket: this.#s3.bucket, Delete },
          options,
        );
        const failed = Errors.find(({ Code }) => Code !== "NoSuchKey");
        if (failed !== undefined) throw Object.assign(new Error(), { name: failed.Code ?? "" });
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#s3.closing.abort(new WarehouseError("target.unavailable", `${this.address} was closed.`));
    this.#s3.client.destroy();
  }

  #object(key: string) {
    checkKey(this.address, key);
    return { Bucket: this.#s3.bucket, Key: this.#s3.prefix + key };
  }

  /** `false` if the condition does not hold. `bodyOf`: gives the same bytes at each attempt. */
  async #put(
    key: string,
    { bytes, sha256 }: FileContent,
    bodyOf: () => Uint8Array | Readable,
    condition: { readonly IfNoneMatch?: "*" } = {},
  ): Promise<boolean> {
    const ChecksumSHA256 = Buffer.from(sha256, "hex").toString("base64");
    const object = { ...this.#object(key), ContentLength: bytes, ChecksumSHA256, ...condition };
    return await this.#s3.ask("write", key, async (options) => {
      const Body = bodyOf();
      try {
        await this.#s3.client.putObject({ ...object, Body }, options);
        return true;
      } catch (thrown) {
        if (statusOf(thrown) === 412) return false;
        if (statusOf(thrown) === 501 || errorName(thrown) === "NotImplemented")
          throw overwriteError(this.address);
        throw thrown;
      } finally {
        if ("destroy" in Body) Body.destroy();
      }
    });
  }

  async *#pages(
    key: string,
    which: Pick<ListObjectsV2CommandInput, "StartAfter" | "Delimiter">,
  ): AsyncGenerator<ListObjectsV2CommandOutput> {
    let token: string | undefined;
    do {
      const asked = {
        Bucket: this.#s3.bucket,
        Prefix: this.#s3.prefix + key,
        ...which,
        ContinuationToken: token,
      };
      const page = await this.#s3.ask("list", key, (options) =>
        this.#s3.client.listObjectsV2(asked, options),
      );
      yield page;
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }
}

function contentOf(body: Uint8Array): FileContent {
  return { bytes: body.length, sha256: hash("sha256", body) };
}

/** `null` if there is no such object. Status 404 alone may also mean an unknown bucket or user. */
async function orNull<Answer>(asking: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asking;
  } catch (thrown) {
    if (["NoSuchKey", "NotFound"].includes(errorName(thrown))) return null;
    throw thrown;
  }
}

const IGNORE = () => {};

/**
 * Credentials come from where the AWS tools look: environment, files and profiles, roles of containers and machines. The
 * client does not retry, because `ask` also covers reading the answer; without a logger it would warn of each failed upload.
 */
function configOf(
  { endpoint, region, pathStyle }: S3Settings,
  idleMs: number,
  proxy: HttpProxy | null,
): S3ClientConfig {
  // Compatible stores seldom have regions, but each signature needs one.
  const signed = region ?? (endpoint === undefined ? undefined : "us-east-1");
  return {
    forcePathStyle: pathStyle ?? endpoint !== undefined,
    maxAttempts: 1,
    logger: { debug: IGNORE, info: IGNORE, warn: IGNORE, error: IGNORE },
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: idleMs,
      ...(proxy !== null && { httpsAgent: { proxyEnv: { HTTPS_PROXY: proxy.url.reveal() } } }),
    },
    // Each put has a SHA-256 of its own. Other stores than Amazon's refuse digests that they do not know.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    ...(endpoint !== undefined && { endpoint }),
    ...(signed !== undefined && { region: signed }),
  };
}
