/** The tarball and each line of the pages that installs an optional package, by npm, in an empty folder. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
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

const S3 =
  '{"targets":[{"type":"lake","url":"s3://bucket/lake","instance":"main","endpoint":"http://127.0.0.1:1"}]}';
const POSTGRES = '{"targets":[{"type":"postgres","url":"postgres://loader@127.0.0.1:1/reports"}]}';
const written = (name: string, text: string) => `printf '%s' '${text}' > ${name} && `;

/**
 * What needs the packages of a line: without them it says that line, with them it comes as far as to this.
 */
const NEEDS: Readonly<Record<string, readonly [command: string, comesTo: RegExp]>> = {
  "@aws-sdk/client-s3": [
    `${written("s3.json", S3)}AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_REGION=us-east-1 content-warehouse runs show --section targets --config s3.json`,
    /127\.0\.0\.1:1|ECONNREFUSED|s3:\/\/bucket/,
  ],
  "pg pg-copy-streams": [
    `${written("pg.json", POSTGRES)}content-warehouse runs show --section targets --config pg.json`,
    /PostgreSQL at 127\.0\.0\.1:1\/reports/,
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
  for (const [packages, [command, comesTo]] of Object.entries(NEEDS)) {
    const line = lines.get(packages) ?? assert.fail();
    const without = await ran(command);
    const says = new RegExp(line.replaceAll(".", "\\."));
    assert.match(without.stdout + without.stderr, says, command);
    await done(`${line} --no-audit --no-fund`);
    const { stdout, stderr } = await ran(command);
    assert.match(stdout + stderr, comesTo, command);
    assert.doesNotMatch(stdout + stderr, /npm install/);
  }
});
