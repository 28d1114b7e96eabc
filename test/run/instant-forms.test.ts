/** Runs against a service that writes instants in other forms than the specification's. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { createService } from "../../src/service/service.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";
import { long } from "../long.ts";
import { exportFrom, NIGHTLY, openPublished, type Row, rowsOf, temporaryFolder } from "./running.ts";

const NOW = Date.UTC(2026, 2, 1, 2);
/** Those of the history name runs and when they began. */
const TABLES = DATA_TABLES.filter(({ stage }) => stage !== "history").map(({ name }) => name);

type Rewrite = (whole: string, fraction: string, path: string) => string;

const FORMS: Readonly<Record<string, Rewrite>> = {
  "+05:30": (whole, fraction) => {
    const local = new Date(Date.parse(`${whole}Z`) + 330 * 60_000).toISOString().slice(0, 19);
    return `${local}${fraction}+05:30`;
  },
  "+00:00": (whole, fraction) => `${whole}${fraction}+00:00`,
  "z in full listings alone": (whole, fraction, path) =>
    path.includes("detail=full") ? `${whole}${fraction}z`.toLowerCase() : `${whole}${fraction}Z`,
};

/** The service behind one that writes each instant otherwise; whatever the token. */
async function rewriting(t: TestContext, url: string, rewrite: Rewrite): Promise<string> {
  const authorization = `Basic ${Buffer.from("token-of-ann:-").toString("base64")}`;
  const proxy = createServer(async (request, response) => {
    const path = request.url ?? "";
    const answer = await fetch(`${url}${path}`, {
      headers: { authorization, accept: "application/json" },
    });
    const body = (await answer.text()).replaceAll(
      /"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z"/g,
      (_, whole: string, fraction = "") => `"${rewrite(whole, fraction, path)}"`,
    );
    const date = answer.headers.get("date") ?? "";
    response.writeHead(answer.status, { "content-type": "application/json", date }).end(body);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

interface Exported {
  readonly directory: string;
  /** Rows of each table, as JSON. */
  readonly tables: Readonly<Record<string, readonly Row[]>>;
}

async function exported(t: TestContext, url: string): Promise<Exported> {
  const { verdict, reasons, directory } = await exportFrom({
    url,
    out: await temporaryFolder(t),
    pipelineUrl: NIGHTLY,
    config: {
      details: "events",
      customFields: ["lonely"],
      destinations: [{ name: "Web CMS", platform: "External" }],
    },
  });
  assert.equal(verdict, "complete", reasons.join("; "));
  await using reader = await openPublished(directory);
  const tables: Record<string, readonly Row[]> = {};
  for (const name of TABLES) tables[name] = await reader.rows(`FROM ${name} ORDER BY ALL`);
  return { directory, tables };
}

long(
  "a service that writes instants in another form is exported as one that writes them as specified",
  async (t) => {
    const service = await createService({ data: packagePath("test/golden/bakery/set"), now: () => NOW });
    t.after(() => service.close());
    const specified = await exported(
      t,
      await rewriting(t, service.url, (whole, fraction) => `${whole}${fraction}Z`),
    );
    const drift = (directory: string) =>
      rowsOf(
        directory,
        "SELECT path, count::INTEGER, example FROM run_drift WHERE kind = 'instant_form' ORDER BY ALL",
      );
    // The content has one that was written otherwise in the first place.
    const odd = [["published_date", 1, "2026-01-08T12:00:00+01:00"]];
    assert.deepEqual(await drift(specified.directory), odd);
    for (const [form, rewrite] of Object.entries(FORMS)) {
      const { directory, tables } = await exported(t, await rewriting(t, service.url, rewrite));
      for (const name of TABLES) assert.deepEqual(tables[name], specified.tables[name], `${name}, ${form}`);
      const entries = await drift(directory);
      assert.ok(entries.length > odd.length, form);
      const paths = entries.map(([path]) => path);
      assert.equal(new Set(paths).size, paths.length, "one entry a field");
      if (form.startsWith("+")) {
        const updated = entries.find(([path]) => path === "updated");
        assert.deepEqual(updated?.slice(0, 2), ["updated", tables.content?.length]);
        assert.ok(String(updated?.[2]).endsWith(form), String(updated));
      }
      const others =
        "SELECT path, kind, count::INTEGER FROM run_drift WHERE kind IN ('type', 'unreadable', 'views_differ') ORDER BY ALL";
      assert.deepEqual(await rowsOf(directory, others), await rowsOf(specified.directory, others), form);
      assert.deepEqual(
        await rowsOf(directory, "SELECT count(*)::INTEGER FROM run_rejects"),
        await rowsOf(specified.directory, "SELECT count(*)::INTEGER FROM run_rejects"),
      );
    }
  },
);
