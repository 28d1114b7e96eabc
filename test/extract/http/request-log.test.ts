import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { RequestLog, type RequestRecord } from "../../../src/extract/http/request-log.ts";
import fc from "../../properties.ts";

const PLAN = ["destinations", "dynamic", "item", "full", "basic", "custom_fields"] as const;

const few = fc.option(fc.nat(3));
const record: fc.Arbitrary<RequestRecord> = fc.record(
  {
    mode: fc.constantFrom(...PLAN),
    pass: few,
    page: few,
    position: few,
    nextPage: fc.option(fc.oneof(fc.nat(), fc.constant(1.5), fc.constant(-1))),
    previousPage: few,
    contentId: fc.option(
      fc.oneof(fc.string(), fc.constantFrom("5f00000000000000000000aa", "\u{1F600}", "\uFFEE")),
    ),
    status: fc.constantFrom(200, 404, 410),
    attempts: fc.nat(9),
    bytes: fc.nat(2 ** 31 - 1),
    milliseconds: fc.double({ min: 0, max: 1e6, noNaN: true }),
    observedAt: fc.nat(4_000_000_000).map((seconds) => seconds * 1_000_000),
    sha256: fc.nat().map((n) => hash("sha256", String(n))),
  },
  { noNullPrototype: true },
);

test("requests come back as they were, in the order of the plan, and else in the order in which they came", () => {
  fc.assert(
    fc.property(fc.array(record), (records) => {
      const requests = new RequestLog();
      for (const each of records) requests.add(each);
      const bytesOf = (id: string | null) => Buffer.from(id ?? "");
      const inOrder = records.toSorted(
        (a, b) =>
          (a.pass ?? 0) - (b.pass ?? 0) ||
          PLAN.indexOf(a.mode) - PLAN.indexOf(b.mode) ||
          (a.page ?? 0) - (b.page ?? 0) ||
          Buffer.compare(bytesOf(a.contentId), bytesOf(b.contentId)),
      );
      assert.deepEqual([...requests.inOrder()], inOrder);
      assert.equal(requests.size, records.length);
      assert.equal(
        requests.bytes,
        records.reduce((sum, { bytes }) => sum + bytes, 0),
      );
    }),
    { numRuns: 20, endOnFailure: true },
  );
});
