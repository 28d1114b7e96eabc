import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { ErrorCode } from "../../src/common/errors.ts";
import { failureDisposition } from "../../src/run/resume.ts";
import { failsWith } from "../failing.ts";
import { few } from "../long.ts";
import { exportFrom, HurriedClock, temporaryFolder, treeOf, visibleIn } from "./running.ts";
import { type Item, itemsOf, listBody, type Question, type Reply, Scripted } from "./scripted.ts";

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

interface Case {
  readonly reply: (question: Question) => Reply;
  readonly code: ErrorCode;
  readonly exitCode: number;
  readonly message: RegExp;
  /** Times that the page is asked for; 1 unless asking again may help. */
  readonly asked?: number;
}

const PROTOCOL = { code: "source.protocol", exitCode: 22 } as const;
const REFUSED = { code: "source.credentials", exitCode: 20 } as const;
const UNAVAILABLE = { code: "source.unavailable", exitCode: 21, asked: 6 } as const;
const SIGN_IN = "You need to sign in before continuing.";

/** What page 2 of the dynamic listing answers, and smaller pages with its items. */
const CASES: Readonly<Record<string, Case>> = {
  "D10: a page that says it is another": {
    ...PROTOCOL,
    reply: paged({ current: 1 }),
    message: /answered with page 1/,
  },
  "D5: a next page that skips one": {
    ...PROTOCOL,
    reply: paged({ next: 4 }),
    message: /names page 4 as the next/,
  },
  "D5: a next page that is the same": {
    ...PROTOCOL,
    reply: paged({ next: 2 }),
    message: /names page 2 as the next/,
  },
  "D5: a next page that is a text": { ...PROTOCOL, reply: paged({ next: "3" }), message: /pagination\.next/ },
  "C13: a response that is an object": {
    ...PROTOCOL,
    reply: body({ response: {} }),
    message: /a page of the content list/,
  },
  "B16: no pagination": { ...PROTOCOL, reply: body({ pagination: undefined }), message: /pagination/ },
  "B16: an empty list instead of an envelope": {
    ...PROTOCOL,
    reply: () => ({ body: [] }),
    message: /content service/,
  },
  "B15: status 206": { ...PROTOCOL, reply: () => ({ status: 206, body: {} }), message: /status 206/ },
  "B16: an empty body": {
    code: "source.damaged",
    exitCode: 22,
    asked: 2,
    reply: () => ({ body: "" }),
    message: /not JSON/,
  },
  "B14: a web page": {
    ...UNAVAILABLE,
    reply: () => ({ body: "<html>Maintenance</html>", headers: { "content-type": "text/html" } }),
    message: /web page instead of data/,
  },
  "B6: status 500, again and again": {
    ...UNAVAILABLE,
    reply: () => ({ status: 500 }),
    message: /not available just now \(500\).*Asked 6 times/,
  },
  "a failure with status 200": {
    ...UNAVAILABLE,
    reply: () => ({ body: { error: "Out of tea" } }),
    message: /Out of tea/,
  },
  "B13: a wish to sign in with status 200": {
    ...REFUSED,
    reply: () => ({ body: { error: SIGN_IN } }),
    message: /CONTENT_API_TOKEN/,
  },
  "B9: a redirect to a sign-in page": {
    ...REFUSED,
    reply: () => ({ status: 302, headers: { location: "/users/sign_in" } }),
    message: /redirect \(302\)/,
  },
  "B8: status 401": {
    ...REFUSED,
    reply: () => ({ status: 401, body: { error: "Wrong token." } }),
    message: /refused the API token \(401\)/,
  },
  "B12: status 404": {
    ...UNAVAILABLE,
    reply: () => ({ status: 404 }),
    message: /no page of the listing that it had before/,
  },
  "D7: a page without end": {
    ...PROTOCOL,
    reply: paged({ next: 3 }),
    message: /goes on beyond page/,
    asked: 1,
  },
};

suite("a run ends, publishes nothing and leaves nothing but what the next one goes on from where the service answers with", () => {
  for (const [what, { reply, code, exitCode, message, asked = 1 }] of few(Object.entries(CASES), 5)) {
    test(what, async (t) => {
      const service = await Scripted.start(t, itemsOf(12));
      const endless = what === "D7: a page without end";
      service.script = (question) => {
        const { kind, mode, page } = question;
        if (kind !== "list" || mode !== "dynamic") return undefined;
        if (endless) return paged({ next: page + 1 })(question);
        const { perPage } = question;
        const ofPage2 = (page - 1) * perPage < 10 && page * perPage > 5;
        return ofPage2 ? reply(question) : undefined;
      };
      const out = join(await temporaryFolder(t), "new", "warehouse");
      const run = exportFrom({ url: service.url, out, threads: 1, clock: new HurriedClock() });
      const error = await failsWith(code, run);
      assert.equal(error.exitCode, exitCode);
      assert.match(error.message, message);
      assert.equal(service.asked("list").filter(({ page }) => page === 2).length, asked);
      assert.deepEqual(service.asked("list", "full"), [], "the next pass is not begun");
      if (failureDisposition(code) === "resume") assert.deepEqual(await visibleIn(out), []);
      else assert.deepEqual(await readdir(join(out, "../..")), [], "not even the folder is left");
    });
  }
});

test("a run that fails at the very last request publishes nothing either, and leaves what the next one goes on from", async (t) => {
  const service = await Scripted.start(t, [{ ...itemsOf(1)[0], custom_fields_details: [{ id: "f-1" }] }]);
  service.script = ({ kind, mode }) => {
    if (kind === "custom_fields") return { body: { error: "no more" } };
    if (mode !== "full") return undefined;
    return {
      body: listBody([{ ...(itemsOf(1)[0] as Item), custom_fields: [{ id: "f-1", name: "Region" }] }], FIRST),
    };
  };
  const out = await temporaryFolder(t);
  const run = exportFrom({ url: service.url, out, threads: 1, clock: new HurriedClock() });
  await failsWith("source.unavailable", run);
  assert.equal(service.asked("custom_fields").length, 6);
  const left = (await treeOf(out)).filter((path) => !path.startsWith(".staging/"));
  assert.deepEqual(left, [".lock.duckdb", "runs/"]);
});

const FIRST: Question = { kind: "list", mode: "full", page: 1, perPage: 5, id: "", columns: [], number: 1 };

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
