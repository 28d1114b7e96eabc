/** What comments say that can be looked up. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");
const TREE = ["src", "test", "docs", "data", "pipelines", ".ci", "*"];
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:"'`\w])\/\/.*|^--.*/gm;
const FILE = /[\w./-]*\w\.(?:ts|js|sql|md|css)\b/g;

/** Codes of errors and files of a user's own, not of the tree. */
const ELSEWHERE = new Set(["config.sql", "content-warehouse.config.ts"]);

test("comments name only files that are there", () => {
  const paths = globSync(
    TREE.map((each) => (each === "*" ? each : `${each}/**/*`)),
    { cwd: ROOT },
  );
  const isThere = (name: string) =>
    paths.some((path) => `/${path}`.endsWith(`/${name.replace(/^[./]+/, "")}`));
  const missing = paths
    .filter((path) => /^(src|test|docs|pipelines)\/.*\.(ts|js|sql)$/.test(path))
    .flatMap((path) => {
      const comments = readFileSync(join(ROOT, path), "utf8").match(COMMENT)?.join("\n") ?? "";
      const named = comments.match(FILE)?.filter((name) => !ELSEWHERE.has(name) && !isThere(name)) ?? [];
      return named.map((name) => `${path}: ${name}`);
    });
  assert.deepEqual(missing, []);
});
