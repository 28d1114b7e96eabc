import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { ErrorCode } from "../../src/common/errors.ts";
import { isResumable } from "../../src/extract/extract.ts";
import { failsWith } from "../failing.ts";
import { few } from "../long.ts";
import { exportFrom, HurriedClock, temporaryFolder, visibleIn } from "./running.ts";
import { item, itemsOf, listBody, type Question, type Reply, Scripted } from "./scripted.ts";

/** A page of twelve items whose `pagination` says something else. */
function paged(change: object) {
  return (question: Question): Reply => {
    const body = listBody(itemsOf(12), question);
    return { body: { ...body, pagination: { ...body.pagination, ...change } } };
  };
}

function body(change: object) {
  return (question: Question): Reply => ({ body: { ...listBody(itemsOf(12), question), ...change } });
}

const SIGN_IN = "You need to sign in before continuing.";
/** Times that the page is asked for, where asking again may help. */
const ASKED: Partial<Record<ErrorCode, number>> = { "source.unavailable": 6, "source.damaged": 2 };

/** By the code of the error, what page 2 of the dynamic listing answers, and smaller pages with its items. */
const CASES: Partial<
  Record<
    ErrorCode,
    Readonly<Record<string, readonly [reply: (question: Question) => Reply, message: RegExp]>>
  >
> = {
  "source.protocol": {
    "D10: a page that says it is another": [paged({ current: 1 }), /sent page 1/],
    "D5: a next page that skips one": [paged({ next: 4 }), /names page 4 as the next/],
    "D5: a next page that is the same": [paged({ next: 2 }), /names page 2 as the next/],
    "D5: a next page that is a text": [paged({ next: "3" }), /pagination\.next/],
    "C13: a response that is an object": [body({ response: {} }), /a page of the content list/],
    "B16: no pagination": [body({ pagination: undefined }), /pagination/],
    "B16: an empty list instead of an envelope": [() => ({ body: [] }), /content service/],
    "B15: status 206": [() => ({ status: 206, body: {} }), /status 206/],
    "D7: a page without end": [paged({ next: 3 }), /continues after page/],
  },
  "source.damaged": { "B16: an empty body": [() => ({ body: "" }), /not JSON/] },
  "source.unavailable": {
    "B14: a web page": [
      () => ({ body: "<html>Maintenance</html>", headers: { "content-type": "text/html" } }),
      /web page instead of data/,
    ],
    "B6: status 500, again and again": [
      () => ({ status: 500 }),
      /is unavailable \(500\).*Gave up after 6 attempts/,
    ],
    "a failure with status 200": [() => ({ body: { error: "Out of tea" } }), /Out of tea/],
    "B12: status 404": [() => ({ status: 404 }), /no longer has a page of the listing that it announced/],
  },
  "source.credentials": {
    "B13: a wish to sign in with status 200": [() => ({ body: { error: SIGN_IN } }), /CONTENT_API_TOKEN/],
    "B9: a redirect to a sign-in page": [
      () => ({ status: 302, headers: { location: "/users/sign_in" } }),
      /redirect \(302\)/,
    ],
    "B8: status 401": [
      () => ({ status: 401, body: { error: "Wrong token." } }),
      /refused the API token \(401\)/,
    ],
  },
};

suite("a run ends, publishes nothing and leaves nothing but what the next one goes on from where the service answers with", () => {
  const cases = Object.entries(CASES).flatMap(([code, replies]) =>
    Object.entries(replies).map(([what, reply]) => [what, code as ErrorCode, ...reply] as const),
  );
  for (const [what, code, reply, message] of few(cases, 5)) {
    test(what, async (t) => {
      const service = await Scripted.start(t, itemsOf(12));
      const endless = what === "D7: a page without end";
      service.script = (question) => {
        const { kind, mode, page, perPage } = question;
        if (kind !== "list" || mode === "full") return undefined;
        if (endless) return paged({ next: page + 1 })(question);
        const ofPage2 = (page - 1) * perPage < 10 && page * perPage > 5;
        return ofPage2 ? reply(question) : undefined;
      };
      const out = join(await temporaryFolder(t), "new", "warehouse");
      // One item less than the page has may be rejected.
      const config = { maxRejects: { items: 4, share: 0 } };
      const run = exportFrom({ url: service.url, out, threads: 1, clock: new HurriedClock(), config });
      assert.match((await failsWith(code, run)).message, message);
      assert.equal(service.asked("list").filter(({ page }) => page === 2).length, ASKED[code] ?? 1);
      assert.deepEqual(service.asked("list", "full"), [], "the next pass is not begun");
      if (isResumable(code)) assert.deepEqual(await visibleIn(out), []);
      else assert.deepEqual(await readdir(join(out, "../..")), [], "not even the folder is left");
    });
  }
});

test("a run that fails at the very last request publishes nothing either, and leaves what the next one goes on from", async (t) => {
  const fields = { custom_fields_details: [{ id: "f-1" }] };
  const service = await Scripted.start(t, [item("c-000", 1, fields)]);
  service.arrange = (items, { mode }) =>
    mode === "full" ? [item("c-000", 1, { custom_fields: [{ id: "f-1", name: "Region" }] })] : items;
  service.script = ({ kind }) => (kind === "custom_fields" ? { body: { error: "no more" } } : undefined);
  const out = await temporaryFolder(t);
  const run = exportFrom({ url: service.url, out, threads: 1, clock: new HurriedClock() });
  await failsWith("source.unavailable", run);
  assert.equal(service.asked("custom_fields").length, 6);
  assert.deepEqual(await visibleIn(out), []);
});

test("the first failure ends the requests under way, and no further ones are made", async (t) => {
  const service = await Scripted.start(t, itemsOf(200));
  service.script = ({ page }) => {
    if (page === 3) return { status: 403 };
    return page === 2 || page > 3 ? "hang" : undefined;
  };
  const out = await temporaryFolder(t);
  await failsWith("source.credentials", exportFrom({ url: service.url, out, threads: 1 }));
  assert.ok(service.questions.length <= 6, `${service.questions.length} requests were made`);
});

test("a failed single-item request ends the others", { timeout: 20_000 }, async (t) => {
  const service = await Scripted.start(t, itemsOf(100));
  service.script = ({ kind, id }) => {
    if (kind !== "item") return undefined;
    return id === "c-002" ? { status: 401 } : "hang";
  };
  const out = await temporaryFolder(t);
  const run = exportFrom({ url: service.url, out, threads: 1, config: { details: "all", perPage: 100 } });
  await failsWith("source.credentials", run);
  assert.ok(service.asked("item").length <= 5, `${service.asked("item").length} items were asked for`);
});
