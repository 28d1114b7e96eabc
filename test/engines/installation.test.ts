/** The tarball and each line of the pages that installs an optional package, by npm, in an empty folder. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";
import { temporaryFolder } from "../folders.ts";

const PATH = `${packagePath("node_modules/.bin")}:${process.env.PATH}`;

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let cwd = "";
/** As `npm install --global` does, into a folder of the test's own. */
const env = () => ({ ...process.env, PATH: `${cwd}/bin:${PATH}`, npm_config_prefix: cwd });

async function ran(command: string): Promise<Ran> {
  const running = promisify(execFile)("sh", ["-c", command], { cwd, env: env() });
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (thrown: Ran) => thrown,
  );
}

async function done(command: string): Promise<string> {
  const { code, stdout, stderr } = await ran(command);
  assert.equal(code, 0, `${command}: ${stderr}`);
  return stdout;
}

const FLEET = JSON.stringify({
  postgres: "postgres://fleet@127.0.0.1:1/fleet",
  instances: [{ name: "north", url: "http://127.0.0.1:1", tokenEnv: "TOKEN" }],
});
const TABLE = JSON.stringify({
  postgres: "postgres://fleet@127.0.0.1:1/fleet",
  instances: { table: "fleet_instances" },
});
const S3 =
  '{"targets":[{"type":"lake","url":"s3://bucket/lake","instance":"main","endpoint":"http://127.0.0.1:1"}]}';
const POSTGRES = '{"targets":[{"type":"postgres","url":"postgres://loader@127.0.0.1:1/reports"}]}';
const written = (name: string, text: string) => `printf '%s' '${text}' > ${name} && `;

/**
 * What needs the packages of a line: without them it says that line, unless something else is named, with them it comes
 * as far as to this.
 */
const NEEDS: Readonly<Record<string, readonly [command: string, comesTo: RegExp, without?: RegExp]>> = {
  "@aws-sdk/client-s3": [
    `${written("s3.json", S3)}AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_REGION=us-east-1 content-warehouse targets --config s3.json`,
    /127\.0\.0\.1:1|ECONNREFUSED|s3:\/\/bucket/,
  ],
  "pg pg-copy-streams": [
    `${written("pg.json", POSTGRES)}content-warehouse targets --config pg.json`,
    /PostgreSQL at 127\.0\.0\.1:1\/reports/,
  ],
  pg: [
    `${written("table.json", TABLE)}content-warehouse fleet enqueue --fleet table.json`,
    /ECONNREFUSED/,
    // The line of PostgreSQL as a target has installed it already.
    /ECONNREFUSED/,
  ],
  // Without it nothing is said: a run makes no spans then.
  "@opentelemetry/api": [
    `test -f "$(npm root --global)/@opentelemetry/api/package.json" && echo there`,
    /^there\n$/,
    /^$/,
  ],
  "@opentelemetry/sdk-node": [
    `OTEL_TRACES_EXPORTER=console node --import ./otel.mjs "$(command -v content-warehouse)" run nightly --sample --quiet`,
    /name: 'content-warehouse run nightly'/,
    /Cannot find package '@opentelemetry\/sdk-node'/,
  ],
  "pg-boss": [
    `${written("fleet.json", FLEET)}content-warehouse fleet enqueue --fleet fleet.json`,
    /ECONNREFUSED/,
  ],
};

async function linesOfPages(): Promise<ReadonlyMap<string, string>> {
  const files = await readdir(packagePath("docs"), { recursive: true });
  const lines = new Map<string, string>();
  for (const file of files.filter((name) => /\.(md|m?ts)$/.test(name)))
    for (const [line] of (await readFile(packagePath(`docs/${file}`), "utf8")).matchAll(
      /npm install [^`\n#]*[^`\n# ]/g,
    )) {
      assert.match(line, /^npm install( --global)?( (@[\w-]+\/)?[\w-]+@\d+\.\d+\.\d+)+$/, file);
      lines.set(line.replace(/^npm install( --global)? /, "").replace(/(?<=\w)@[\d.]+/g, ""), line);
    }
  return lines;
}

test("each line installs what its command needs, which names it before", async (t) => {
  cwd = await temporaryFolder(t);
  const [packed] = JSON.parse(
    await done(`cd ${packagePath(".")} && npm pack --silent --json --pack-destination ${cwd}`),
  );
  await done(`npm install --global --no-audit --no-fund ${join(cwd, packed.filename)}`);
  await done("content-warehouse run nightly --sample --quiet");
  const lines = await linesOfPages();
  assert.deepEqual([...lines.keys()].toSorted(), Object.keys(NEEDS).toSorted());
  const [, otel = ""] =
    /```js\n(\/\/ otel\.mjs\n.*?)```/s.exec(await readFile(packagePath("docs/observability.md"), "utf8")) ??
    [];
  await writeFile(join(cwd, "otel.mjs"), otel);
  for (const [packages, [command, comesTo, before]] of Object.entries(NEEDS)) {
    const line = lines.get(packages) ?? assert.fail();
    const without = await ran(command);
    const says = before ?? new RegExp(line.replaceAll(".", "\\."));
    assert.match(without.stdout + without.stderr, says, command);
    await done(`${line} --no-audit --no-fund`);
    const { stdout, stderr } = await ran(command);
    assert.match(stdout + stderr, comesTo, command);
    assert.doesNotMatch(stdout + stderr, /npm install/);
  }
});
