import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../../src/common/secret.ts";
import { createClient } from "../../src/extract/content-client.ts";
import { failsWith } from "../failing.ts";
import { CANARY } from "../run/canary.ts";
import { serve } from "./loopback.ts";

const PAGINATION = { previous: null, next: null, current: 1, per_page: 100, count: 1, pages: 1 };

test("the client gives typed pages, items and lookups, and keeps what it does not know", async (t) => {
  const { url, requests } = await serve(t, (request, response) => {
    const path = (request.url ?? "").replace(/\?.*/, "");
    const bodies: Record<string, unknown> = {
      "/api/v1/content": { response: [{ id: "a", title: "A", new_field: 1 }], pagination: PAGINATION },
      "/api/v1/content/a": { response: { id: "a", payment: 12.5 } },
      "/api/v1/destinations": [{ id: "d", identification: "Shop", platform: "External" }],
      "/api/v1/custom_fields_reference": [{ id: "f", name: "color" }],
    };
    const body = bodies[path];
    response.writeHead(body === undefined ? 404 : 200).end(JSON.stringify(body ?? { error: "gone" }));
  });
  const client = createClient({ url, token: new Secret(CANARY) });
  t.after(() => client.close());
  const page = await client.listPage({ mode: "dynamic", page: 1 });
  assert.equal(page.items[0]?.title, "A");
  assert.equal(page.items[0]?.new_field, 1);
  assert.deepEqual(page.pagination, PAGINATION);
  assert.equal((await client.item("a", { mode: "dynamic", columns: ["payment"] }))?.payment, 12.5);
  assert.equal(await client.item("b", { mode: "full" }), null);
  assert.equal((await client.destinations([{ name: "Shop" }])).destinations[0]?.id, "d");
  assert.equal((await client.customFields(["color"])).definitions[0]?.id, "f");
  const columns = new URL(requests[0]?.url ?? "", url).searchParams.getAll("columns[]");
  assert.ok(columns.length > 90 && columns.includes("custom_fields"));
  assert.equal(requests[1]?.url, "/api/v1/content/a?columns%5B%5D=payment&gallery=true");
});

test("an item that does not fit the specification is an error that says where, without data", async (t) => {
  const { url } = await serve(t, (_request, response) => {
    response.end(
      JSON.stringify({
        response: [{ id: "a" }, { id: "b", title: ["jane@example.com"] }],
        pagination: PAGINATION,
      }),
    );
  });
  const client = createClient({ url, token: CANARY });
  t.after(() => client.close());
  const error = await failsWith("contract.drift", client.listPage({ mode: "full", page: 1 }));
  assert.match(error.message, /item 1.*title/s);
  assert.doesNotMatch(error.message, /jane/);
});

test("S1: the words of a failure that came with status 200 are shown without the token", async (t) => {
  const { url } = await serve(t, (_request, response) =>
    response.end(JSON.stringify({ error: `Invalid token ${CANARY}` })),
  );
  const client = createClient({ url, token: CANARY });
  t.after(() => client.close());
  const error = await failsWith("source.credentials", client.listPage({ mode: "full", page: 1 }));
  assert.match(error.message, /It said: Invalid token \[redacted\]$/);
});

test("a client can be closed more than once, and asks nothing after it", async (t) => {
  const { url, requests } = await serve(t, (_request, response) => response.end("[]"));
  const client = createClient({ url, token: CANARY });
  await client.close();
  await client.close();
  await assert.rejects(client.customFields(["a"]));
  assert.equal(requests.length, 0);
});
