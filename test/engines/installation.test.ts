/**
 * What npm installs: a clone, the tarball alone, with each line of the pages that installs an optional package, and beside
 * the oldest of these packages.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";
import { VERSION } from "../../src/common/version.ts";
import { temporaryFolder } from "../folders.ts";
import { startPostgres } from "./postgres-server.ts";
import { startS3 } from "./s3-server.ts";

const PATH = `${packagePath("node_modules/.bin")}:${process.env.PATH}`;

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let cwd = "";
/** As `npm install --global` does, into a folder of the test's own. */
const env = () => ({ ...process.env, PATH: `${cwd}/bin:${PATH}`, npm_config_prefix: cwd });

async function ran(command: string, more: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const running = promisify(execFile)("sh", ["-c", command], { cwd, env: { ...env(), ...more } });
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (thrown: Ran) => thrown,
  );
}

async function done(command: string, more?: NodeJS.ProcessEnv): Promise<Ran> {
  const result = await ran(command, more);
  assert.equal(result.code, 0, `${command}: ${result.stderr}`);
  return result;
}

const tarballs = await temporaryFolder({ after });
let tarball: Promise<string> | undefined;

/** Path of the tarball, which is packed once. */
function packed(): Promise<string> {
  tarball ??= done(`cd ${packagePath(".")} && npm pack --silent --json --pack-destination ${tarballs}`).then(
    ({ stdout }) => join(tarballs, JSON.parse(stdout)[0].filename),
  );
  return tarball;
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
  const { stderr } = await done(`npm install --global --no-audit --no-fund ${await packed()}`);
  assert.doesNotMatch(stderr, /script/);
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

test("npm ci alone makes the command work in a clone", async (t) => {
  cwd = await temporaryFolder(t);
  await done(`cd ${packagePath(".")} && git ls-files -z | xargs -0 cp --parents -t ${cwd}`);
  const PATH = process.env.PATH?.split(":").filter((each) => !each.endsWith("node_modules/.bin"));
  await done("npm ci --no-audit --no-fund", { PATH: PATH?.join(":") });
  const inCache = { PATH: PATH?.join(":"), npm_config_cache: join(cwd, "cache") };
  assert.equal((await done("npx content-warehouse --version", inCache)).stdout, `${VERSION}\n`);
});

const { peerDependencies } = JSON.parse(await readFile(packagePath("package.json"), "utf8")) as {
  readonly peerDependencies: Readonly<Record<string, string>>;
};

// Other tests use the newest, which the lines of the pages install.
test("npm installs the tarball beside the oldest optional packages, and both targets work", async (t) => {
  cwd = await temporaryFolder(t);
  await using s3 = await startS3();
  await using postgres = await startPostgres();
  const targets = [
    { type: "lake", url: `s3://${s3.bucket}/lake`, instance: "main", endpoint: s3.endpoint },
    { type: "postgres", url: "postgres:///postgres" },
  ];
  const config = JSON.stringify({ targets });
  const peers = Object.entries(peerDependencies).map(
    ([name, range]) => `${name}@${/\d+\.\d+\.\d+/.exec(range)?.[0]}`,
  );
  await done(`npm init --yes && npm install --save-exact --no-audit --no-fund ${peers.join(" ")}`);
  await done(`npm install --no-audit --no-fund ${await packed()}`);
  for (const peer of peers) {
    const [, name, version] = /^(.+)@(.+)$/.exec(peer) ?? [];
    const text = await readFile(join(cwd, `node_modules/${name}/package.json`), "utf8");
    assert.equal(JSON.parse(text).version, version, name);
  }
  const env = { ...s3.env, ...postgres.env("postgres"), PATH: `${cwd}/node_modules/.bin:${PATH}` };
  await done(`${written("both.json", config)}content-warehouse run nightly --sample --config both.json`, env);
  await done("content-warehouse run nightly --sample --config both.json", env);
  const { stdout } = await done("content-warehouse lake verify --full --config both.json", env);
  assert.match(stdout, /main/);
  const admin = await postgres.connect();
  const { rows } = await admin.query("SELECT count(*)::int AS items FROM content_warehouse.content");
  await admin.end();
  assert.deepEqual(rows, [{ items: 500 }]);
});
