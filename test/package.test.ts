import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, cp, mkdir, readdir, readFile, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { packagePath } from "../src/common/package-root.ts";
import { VERSION } from "../src/common/version.ts";
import { temporaryFolder } from "./folders.ts";
import { long } from "./long.ts";

const { version, dependencies, scripts } = JSON.parse(await readFile(packagePath("package.json"), "utf8"));
const PATH = `${packagePath("node_modules/.bin")}:${process.env.PATH}`;

/** What a checkout holds; packages are linked to, so that a build writes into no other copy. */
async function copyTo(folder: string): Promise<void> {
  const made = ["node_modules", "dist", "warehouse", ".git"];
  const entries = (await readdir(packagePath("."))).filter((name) => !made.includes(name));
  for (const name of entries) await cp(packagePath(name), join(folder, name), { recursive: true });
  await mkdir(join(folder, "node_modules", ".bin"), { recursive: true });
  for (const name of await readdir(packagePath("node_modules")))
    if (!name.startsWith("."))
      await symlink(packagePath(`node_modules/${name}`), join(folder, "node_modules", name));
}

/** As a checkout of another day with umask 077. */
async function closeToOthers(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink() || path.includes(join(folder, "node_modules"))) continue;
    await chmod(path, entry.isDirectory() ? 0o700 : 0o600);
    await utimes(path, new Date("2001-01-01"), new Date("2001-01-01"));
  }
}

async function sha256OfPack(folder: string, umask: string, env: NodeJS.ProcessEnv): Promise<string> {
  const packing = spawn("sh", ["-c", `umask ${umask} && npm pack --silent`], {
    cwd: folder,
    env: { PATH, HOME: process.env.HOME, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  assert.deepEqual(await once(packing, "close"), [0, null]);
  const packed = await readFile(join(folder, `content-warehouse-${version}.tgz`));
  return createHash("sha256").update(packed).digest("hex");
}

/** A copy of these files in a folder of that name. */
async function copied(t: TestContext, name: string): Promise<string> {
  const folder = join(await temporaryFolder(t), name);
  await mkdir(folder, { recursive: true });
  await copyTo(folder);
  return folder;
}

long(
  "S26: npm pack gives the same bytes in another folder, on another day, with another umask and time zone",
  async (t) => {
    const [one, other] = [await copied(t, "one"), await copied(t, "an other/of these")];
    await closeToOthers(other);
    const [first, second] = await Promise.all([
      sha256OfPack(one, "022", { TZ: "UTC", LANG: "C.UTF-8" }),
      sha256OfPack(other, "077", { TZ: "Asia/Tokyo", LANG: "C" }),
    ]);
    assert.equal(first, second);
  },
);

test("S26: the package has no script that npm would run, or warn of, where it is installed", () => {
  const run = ["preinstall", "install", "postinstall", "prepare"];
  assert.deepEqual(
    run.filter((name) => name in scripts),
    [],
  );
});

test("the program and its package agree on their version", () => {
  assert.equal(VERSION, version);
});

interface Component {
  readonly purl: string;
}

test("S26: the SBOM has each dependency at its version, and all that the lock file installs beside them, but nothing for development alone", async () => {
  const printed = execFileSync("npm", ["run", "--silent", "sbom"], {
    cwd: packagePath("."),
    env: { PATH, HOME: process.env.HOME },
    encoding: "utf8",
  });
  const { bomFormat, specVersion, metadata, components } = JSON.parse(printed);
  assert.deepEqual([bomFormat, specVersion], ["CycloneDX", "1.5"]);
  assert.equal(metadata.component.purl, `pkg:npm/content-warehouse@${version}`);
  const listed = (components as Component[]).map(({ purl }) => decodeURIComponent(purl));
  for (const [name, pinned] of Object.entries(dependencies))
    assert.ok(listed.includes(`pkg:npm/${name}@${pinned}`), name);
  const { packages } = JSON.parse(await readFile(packagePath("package-lock.json"), "utf8"));
  const installed = Object.entries<{ version: string; dev?: boolean }>(packages).flatMap(([path, entry]) =>
    path === "" || entry.dev ? [] : [`pkg:npm/${path.replace(/^.*node_modules\//, "")}@${entry.version}`],
  );
  assert.deepEqual(listed.toSorted(), [...new Set(installed)].toSorted());
});
