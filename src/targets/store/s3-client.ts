/** The client for S3-compatible stores: an optional peer, because only who delivers to one needs it. */
import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import { codeOf, WarehouseError } from "../../common/errors.ts";
import type { StoreOptions } from "./address.ts";

/** A test holds that package.json says the same version. */
export const S3_SDK = "@aws-sdk/client-s3@3.1175.0";

export type Sdk = typeof import("@aws-sdk/client-s3");

/** A connection on which nothing moves for so long is given up; stores write blanks while they join parts. */
const IDLE_MS = 60_000;
const CONNECT_MS = 10_000;

/** Throws `config.invalid` where the SDK is not installed. */
export async function importSdk(): Promise<Sdk> {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (cause) {
    if (codeOf(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new WarehouseError(
      "config.invalid",
      `A target in a bucket needs a package that is not installed; install it with: npm install --global ${S3_SDK} (without --global where content-warehouse is a dependency of a project).`,
      { cause },
    );
  }
}

/**
 * Credentials come from the platform's chain: environment, files and profiles of the AWS tools, roles of containers
 * and machines. Each request is sent once: what is tried again is decided in one place, with the reading of answers in it.
 */
export function makeClient(sdk: Sdk, options: StoreOptions, idleMs = IDLE_MS): S3Client {
  const { endpoint, region, pathStyle = endpoint !== undefined } = options;
  const config: S3ClientConfig = {
    forcePathStyle: pathStyle,
    maxAttempts: 1,
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: idleMs },
    // What is put has a SHA-256 of its own; stores that are not Amazon's refuse other digests that they do not know.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  };
  if (endpoint !== undefined) config.endpoint = endpoint;
  // A store of one's own seldom has regions, but each signature names one.
  const signed = region ?? (endpoint === undefined ? undefined : "us-east-1");
  if (signed !== undefined) config.region = signed;
  return new sdk.S3Client(config);
}
