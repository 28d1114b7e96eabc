import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { ErrorCode } from "../../../src/common/errors.ts";
import { serviceMessage } from "../../../src/extract/http/decode.ts";
import type { RequestMode } from "../../../src/extract/http/request.ts";
import { readHeaders, statusError } from "../../../src/extract/http/status.ts";

const SERVER_FAULTS = [500, 502, 503, 504, 520, 521, 522, 523, 524];

const ROWS: readonly (readonly [
  rows: string,
  statuses: readonly number[],
  modes: readonly RequestMode[],
  code: ErrorCode | null,
  attempts: number,
  says: RegExp,
])[] = [
  ["", [200], ["dynamic", "destinations"], null, 0, /^$/],
  ["E1", [404, 410], ["item"], null, 0, /^$/],
  ["B15", [201, 204, 206, 304], ["full", "item"], "source.protocol", 1, /status [23]0\d.*proxy or cache/],
  [
    "B9, B10",
    [301, 302, 308],
    ["full", "destinations", "item"],
    "source.credentials",
    1,
    /redirect \(30\d\), most likely to a sign-in page.*CONTENT_API_TOKEN\), and that the URL \(CONTENT_API_URL\)/,
  ],
  ["B7", [401], ["dynamic"], "source.credentials", 1, /refused the API token \(401\).*CONTENT_API_TOKEN/],
  ["B8, B11", [403], ["full", "custom_fields"], "source.credentials", 1, /\(403\).*CONTENT_API_TOKEN/],
  [
    "B12",
    [404, 405, 410],
    ["dynamic", "basic", "full", "custom_fields"],
    "config.not_found",
    1,
    /no content service at c\.example:8443: \/api\/v1\/content answers 4\d\d.*CONTENT_API_URL/,
  ],
  ["", [405], ["item"], "source.protocol", 1, /refused a request \(405\)/],
  ["", [400, 422], ["dynamic", "item"], "source.protocol", 1, /narrow `columns`.*`perPage`.*It said: why/],
  ["", [402, 406], ["dynamic"], "source.protocol", 1, /\(40\d\)\. It said/],
  ["B1", [429], ["dynamic"], "source.unavailable", 6, /fewer requests \(429\), and asks to wait 2 s/],
  ["B5", [408, 425, ...SERVER_FAULTS], ["full"], "source.unavailable", 6, /\(\d+\).*run again later/],
  ["B6", [501, 505], ["dynamic", "item"], "source.unavailable", 1, /failed \(50\d\)/],
];

const ANSWER = {
  host: "c.example:8443",
  prefix: "",
  path: "/api/v1/content",
  settingNames: { url: "CONTENT_API_URL", token: "CONTENT_API_TOKEN" },
  retryAfter: 1500,
  isListing: false,
  message: "why",
};

for (const [rows, statuses, modes, code, attempts, says] of ROWS) {
  test(`${rows === "" ? "" : `${rows}: `}status ${statuses} on ${modes} is ${code ?? "an answer"}`, () => {
    for (const [status, mode] of statuses.flatMap((each) => modes.map((mode) => [each, mode] as const))) {
      const error = statusError({ ...ANSWER, status }, mode);
      assert.equal(error?.code ?? null, code);
      assert.match(error?.message ?? "", says);
      assert.equal(error?.attemptsAtMost ?? 0, attempts);
      assert.equal(error?.retry ?? false, attempts > 1);
      assert.equal(error?.status ?? status, status);
      assert.equal(error?.retryAfterMs ?? 1500, 1500);
    }
  });
}

test("B2, G6: Retry-After is followed in all forms, rounded up, and the longest of several", () => {
  const date = "Fri, 20 Nov 2026 02:00:00 GMT";
  const retryAfter = (text: string | null) =>
    readHeaders({ date, ...(text !== null && { "retry-after": text }) }, 0).retryAfter;
  const rows: [string | null, number | null][] = [
    ["0", 0],
    ["2", 2000],
    [" 2", 2000],
    ["2.5", 3000],
    ["0.2", 1000],
    ["3600", 3_600_000],
    ["2, 30", 30_000],
    ["30,2, soon", 30_000],
    ["2, Fri, 20 Nov 2026 02:00:30 GMT", 30_000],
    ["Fri, 20 Nov 2026 02:00:30 GMT, Fri, 20 Nov 2026 02:00:09 GMT", 30_000],
    ["Fri, 20 Nov 2026 02:00:30 GMT", 30_000],
    ["Friday, 20-Nov-26 02:00:30 GMT", 30_000],
    ["Fri Nov 20 02:00:30 2026", 30_000],
    ["Fri, 20 Nov 2026 01:59:30 GMT", 0],
    [null, null],
  ];
  for (const [text, expected] of rows) assert.equal(retryAfter(text), expected, String(text));
  const unreadable = [
    "Thu, 20 Nov 2026 02:00:30 GMT",
    "Fri, 31 Feb 2027 02:00:30 GMT",
    "2026-11-20T02:00:30Z",
  ];
  for (const text of [...unreadable, "", "-5", "soon", "1e9", "0x10", "5 s", "+2", "٢"]) {
    assert.equal(retryAfter(text), text);
    const error = statusError({ ...ANSWER, retryAfter: text, status: 503 }, "full");
    assert.equal(error?.retryAfterMs, 1000, "a wish that cannot be read is one to slow down");
    assert.ok(error.message.includes(`(503), with a Retry-After that cannot be read (${text})`));
  }
  assert.equal(retryAfter("9".repeat(400)), Number.POSITIVE_INFINITY, "never a short wait");
});

test("a Date header is read in the three forms of HTTP, and one that is none is nothing", () => {
  const forms = [
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
  ];
  const dateIn = (date: string) => {
    const { observedAt, dated } = readHeaders({ date }, 7);
    assert.equal(dated, observedAt !== 7000);
    return dated ? observedAt : null;
  };
  for (const text of forms) assert.equal(dateIn(text), Date.parse("1994-11-06T08:49:37Z") * 1000, text);
  for (const text of ["Mon, 06 Nov 1994 08:49:37 GMT", "Monday, 06-Nov-94 08:49:37 GMT", "", "now"])
    assert.equal(dateIn(text), null);
});

test("the service's own words are found in the usual forms, cleaned and cut", () => {
  const said = (
    body: string | Buffer,
    contentType: string | null = null,
    contentEncoding: string | null = null,
  ) => serviceMessage({ body: Buffer.from(body), contentType, contentEncoding });
  assert.equal(said('{"error":"no such\\u001b[31m column"}'), "no such [31m column");
  assert.equal(said('{"error":{"message":"too many","code":7}}'), "too many");
  assert.equal(said('{"message":"later"}'), "later");
  assert.equal(
    said('{"type":"about:blank","title":"Busy","detail":"Try again","status":200}'),
    "Busy: Try again",
  );
  assert.equal(said(gzipSync('{"error":"packed"}'), null, "gzip"), "packed");
  assert.equal(said(`{"error":"${"x".repeat(500)}"}`).length, 200);
  assert.equal(said("over  quota\n", "text/plain; charset=utf-8"), "over quota");
});

test("what explains nothing is not shown", () => {
  const nothing = [
    "",
    "null",
    "[]",
    '"text"',
    '{"error":7}',
    '{"error":"cut',
    "<html><body>502</body></html>",
  ];
  for (const body of nothing) {
    assert.equal(
      serviceMessage({ body: Buffer.from(body), contentType: "text/html", contentEncoding: null }),
      "",
      body,
    );
  }
  assert.equal(
    serviceMessage({
      body: gzipSync("x").subarray(0, 5),
      contentType: "text/plain",
      contentEncoding: "gzip",
    }),
    "",
  );
});
