import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer as createPlainServer } from "node:net";
import { type TestContext, test } from "node:test";
import { createServer, getCACertificates, setDefaultCACertificates, type TlsOptions } from "node:tls";
import { environment } from "../../environment.ts";
import { failsWith } from "../../failing.ts";
import { NEVER } from "../../never.ts";
import { clientOf, LIST, read, serve } from "../loopback.ts";

/** One of the certificates made for the tests, all with the key "key"; `expired.pem` ended on the day it was made. */
function pem(name: string): string {
  return readFileSync(new URL(`tls/${name}.pem`, import.meta.url), "utf8");
}

/** Trusts these authorities alone until the test ends: what is trusted is the process's, which tests share. */
function trust(t: TestContext, ...authorities: readonly string[]): void {
  const before = getCACertificates("default");
  setDefaultCACertificates(authorities);
  t.after(() => setDefaultCACertificates(before));
}

async function serveTls(
  t: TestContext,
  options: TlsOptions,
): Promise<{ url: string; requests: () => number }> {
  let requests = 0;
  const server = createServer({ key: pem("key"), ...options }, (socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", () => {
      requests++;
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `https://localhost:${port}`, requests: () => requests };
}

/** With the advice of each. */
const cases: [name: string, says: RegExp, options: TlsOptions][] = [
  [
    "with a certificate that it signed itself",
    /authority that is unknown here \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/,
    { cert: pem("localhost") },
  ],
  [
    "with a certificate for another host",
    /certificate for another host \(ERR_TLS_CERT_ALTNAME_INVALID\); check the host name/,
    { cert: pem("other-name") },
  ],
  [
    "with a certificate that has expired",
    /has expired or is not valid yet \(CERT_HAS_EXPIRED\); check this machine's clock/,
    { cert: pem("expired") },
  ],
  [
    "over TLS 1.1",
    /is not trusted \(ERR_SSL_\w+\): its certificate or TLS version is not accepted/,
    { cert: pem("localhost"), minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" },
  ],
];

for (const [name, says, options] of cases) {
  test(`A4: a service ${name} gets no request`, async (t) => {
    trust(t, pem("other-name"), pem("expired"));
    const { url, requests } = await serveTls(t, options);
    await failsFinally(url, t, says);
    assert.equal(requests(), 0);
  });
}

for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
  test(`A4: a service that wants a client certificate over ${maxVersion} is told so`, async (t) => {
    trust(t, pem("localhost"));
    const certificates = { cert: pem("localhost"), requestCert: true, rejectUnauthorized: true };
    const { url } = await serveTls(t, { ...certificates, maxVersion });
    await failsFinally(url, t, /wants a client certificate.*_ALERT_.*access with the token alone/);
  });
}

async function failsFinally(url: string, t: TestContext, says: RegExp): Promise<void> {
  const error = await failsWith("source.tls", read(clientOf(t, url), LIST, NEVER));
  assert.match(error.message, /^localhost:\d+ /);
  assert.match(error.message, says);
  assert.equal(error.exitCode, 2);
  assert.equal(error.retry, false);
}

test("A4: the environment cannot switch the check off", async (t) => {
  const { url, requests } = await serveTls(t, { cert: pem("localhost") });
  t.after(environment({ NODE_TLS_REJECT_UNAUTHORIZED: "0" }));
  await failsWith("source.tls", read(clientOf(t, url), LIST, NEVER));
  assert.equal(requests(), 0);
});

test("a certificate of a known authority is trusted", async (t) => {
  trust(t, pem("localhost"));
  const { url, requests } = await serveTls(t, { cert: pem("localhost") });
  assert.equal((await read(clientOf(t, url), LIST, NEVER)).status, 200);
  assert.equal(requests(), 1);
});

test("A4: a service that speaks plain HTTP behind an https address is told so", async (t) => {
  const { url } = await serve(t, (_request, response) => response.end("{}"));
  const error = await failsWith("source.tls", read(clientOf(t, url.replace("http:", "https:")), LIST, NEVER));
  assert.match(error.message, /does not speak TLS \(ERR_SSL_WRONG_VERSION_NUMBER\); check the port .*http:/);
});

test("a peer that hangs up while the connection is made can be asked again", async (t) => {
  const server = createPlainServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  assert.ok(
    (await failsWith("source.unreachable", read(clientOf(t, `https://127.0.0.1:${port}`), LIST, NEVER)))
      .retry,
  );
});
