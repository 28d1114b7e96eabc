/** The rules of the Dockerfile, by its text: it is built where there is a Docker engine, which tests do without. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { packagePath } from "../src/common/package-root.ts";

const text = readFileSync(packagePath("Dockerfile"), "utf8");
const { version, devDependencies, peerDependencies, bin } = JSON.parse(
  readFileSync(packagePath("package.json"), "utf8"),
);
const ignored = readFileSync(packagePath(".dockerignore"), "utf8").split("\n");

/** Instructions with their arguments, continued lines joined. */
const instructions = text
  .replaceAll("\\\n", "")
  .split("\n")
  .filter((line) => /^[A-Z]+ /.test(line))
  .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)] as const);
const all = (name: string) => instructions.flatMap(([each, rest]) => (each === name ? [rest] : []));

test("every stage has the slim image of the Node that the tests run with", () => {
  for (const from of all("FROM"))
    assert.match(from, new RegExp(`^node:${devDependencies.node}-[a-z]+-slim(?: AS [a-z]+)?$`));
  assert.equal(all("FROM").length, 2);
});

test("dependencies are those of the lock file, without scripts of their own, and without those for development", () => {
  const npm = all("RUN").flatMap((run) => run.match(/npm (?:ci|install|i|prune)\b[^&]*/g) ?? []);
  assert.deepEqual(
    npm.map((command) => command.trim().split(" ").slice(0, 2).join(" ")),
    ["npm ci", "npm prune", "npm install"],
  );
  for (const command of npm) assert.match(command, /--ignore-scripts/);
  for (const command of npm.slice(1)) assert.match(command, /--omit=dev/);
});

test("the program is the entry, as an ordinary user, with the warehouse as a volume that this user may write", () => {
  assert.deepEqual(all("ENTRYPOINT"), ['["content-warehouse"]']);
  assert.deepEqual(all("USER"), ["1000:1000"]);
  assert.deepEqual(all("VOLUME"), ["/warehouse"]);
  assert.match(all("ENV").join(" "), /CONTENT_WAREHOUSE_DIR=\/warehouse/);
  const places = instructions.map(([name]) => name);
  assert.ok(places.lastIndexOf("RUN") < places.indexOf("USER"), "nothing is made as the ordinary user");
  const run = all("RUN").at(-1) ?? "";
  assert.match(run, /install --directory --owner=1000 --group=1000 --mode=0750 \/warehouse/);
  assert.ok(
    run.includes(`/opt/content-warehouse/${bin["content-warehouse"]} /usr/local/bin/content-warehouse`),
  );
});

test("what is copied is there, and let through by .dockerignore, which lets through nothing else", () => {
  const copied = all("COPY")
    .filter((copy) => !copy.startsWith("--from="))
    .flatMap((copy) => copy.split(" ").slice(0, -1));
  for (const path of copied) assert.ok(existsSync(packagePath(path)), path);
  const letThrough = ignored.flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
  assert.equal(
    ignored.find((line) => line !== "" && !line.startsWith("#")),
    "*",
  );
  assert.deepEqual(letThrough.sort(), [...new Set(copied)].sort());
});

test("the commands in its comments name the version of the package", () => {
  assert.equal(text.match(/content-warehouse:(\d+\.\d+\.\d+)/g)?.length, 4);
  for (const tag of text.match(/content-warehouse:\d+\.\d+\.\d+/g) ?? [])
    assert.equal(tag, `content-warehouse:${version}`);
});

test("the optional packages in its comments are those of package.json", () => {
  const named = [...text.matchAll(/PACKAGES="(.+)@(\d+\.\d+\.\d+)"/g)];
  assert.deepEqual(
    named.map(([, name = "", version]) => [name, version === peerDependencies[name]]),
    [["@aws-sdk/client-s3", true]],
  );
});
