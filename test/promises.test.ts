import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packagePath } from "../src/common/package-root.ts";

const PAGE = readFileSync(packagePath("docs/promises.md"), "utf8");
const CONTRIBUTING = readFileSync(packagePath("CONTRIBUTING.md"), "utf8");
const README = readFileSync(packagePath("README.md"), "utf8");

/** The promises of the page, without their numbers. */
const PROMISES = [...PAGE.matchAll(/^## \d+\. (.*)$/gm)].map(([, words = ""]) => words);

test("each of the thirteen promises names a test that holds it", () => {
  assert.equal(PROMISES.length, 13);
  const rows = [...CONTRIBUTING.matchAll(/^\| (\d+) \| `(test\/[^`]+)` \| (.*) \|$/gm)];
  const numbers = new Set(rows.map(([, number]) => Number(number)));
  assert.deepEqual(
    [...numbers],
    PROMISES.map((_, index) => index + 1),
  );
  for (const [, , file = "", title = ""] of rows) {
    assert.ok(existsSync(packagePath(file)), `${file} is not there`);
    const text = readFileSync(packagePath(file), "utf8");
    const there = ['"', "`"].some((quote) => text.includes(`${quote}${title}`));
    assert.ok(there, `${file} has no test "${title}"`);
  }
});

test("the README gives the promises in the same words", () => {
  const given = [...README.matchAll(/^\d+\. \[(.*)\]\(docs\/promises\.md#.*\)/gm)];
  assert.deepEqual(
    given.map(([, words]) => words),
    PROMISES,
  );
});

test("two files of the program open connections, and the embedded service is the only one that takes any", () => {
  const source = packagePath("src");
  const opening =
    /from "(?:node:)?(?:https?|net|tls|dgram|dns|http2|undici)(?:\/[a-z]+)?"|(?<!\.)\bfetch\(|WebSocket/;
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const found = files.filter((file) =>
    readFileSync(join(source, file), "utf8")
      .split(/;\n/)
      .some((statement) => opening.test(statement) && !/^import type /m.test(statement)),
  );
  const client = "extract/http/connection-pool.ts";
  assert.deepEqual(found.sort(), [client, "service/app.ts"]);
});
