import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

/** One of the certificates made for the tests, all with the key "key"; `expired.pem` ended on the day it was made. */
export function pem(name: string): string {
  return readFileSync(new URL(`tls/${name}.pem`, import.meta.url), "utf8");
}

/** Trusts these authorities alone until the test ends: what is trusted is the process's, which tests share. */
export function trust(t: TestContext, ...authorities: readonly string[]): void {
  const before = getCACertificates("default");
  setDefaultCACertificates(authorities);
  t.after(() => setDefaultCACertificates(before));
}
