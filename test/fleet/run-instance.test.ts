import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { deliverCommand } from "../../src/cli/commands/deliver.ts";
import { lakeCommand } from "../../src/cli/commands/lake.ts";
import { runCommand } from "../../src/cli/commands/run.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { sqlCommand } from "../../src/cli/commands/sql.ts";
import { targetsCommand } from "../../src/cli/commands/targets.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";
import { program as commandLine, everyCommand } from "../../src/cli/program.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { basicCredentials, Secret } from "../../src/common/secret.ts";
import { outcomeOf } from "../../src/fleet/outcome.ts";
import { capture, outcome, ran } from "../cli/capture.ts";
import { environment } from "../environment.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { rowsOf, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

const SMALL = packagePath("test/run/small-pipeline.ts");
const TOKENS = { north: "token-of-north", south: "token-of-south", east: "token-of-east" };
/** What a shell may have set for a run without a fleet: it is of no instance. */
const STRAY = {
  CONTENT_API_URL: "https://stray.example.com",
  CONTENT_API_TOKEN: "stray",
  CONTENT_WAREHOUSE_DIR: "/stray",
};

/** Three services, a fleet file that names them, and how one of them is run. */
async function fleet(t: TestContext, more: object = {}) {
  const folder = await temporaryFolder(t);
  const services = {
    north: await Scripted.start(t, itemsOf(3)),
    south: await Scripted.start(t, itemsOf(4)),
    east: await Scripted.start(t, itemsOf(5)),
  };
  await writeFile(join(folder, "south.token"), TOKENS.south, { mode: 0o600 });
  await writeFile(
    join(folder, "shared.json"),
    JSON.stringify({ perPage: 2, url: "https://shared.example.com" }),
  );
  await writeFile(
    join(folder, "fleet.json"),
    JSON.stringify({
      config: "shared.json",
      instances: [
        { name: "north", url: services.north.url, tokenEnv: "NORTH", pipeline: SMALL },
        { name: "south", url: services.south.url, tokenFile: "south.token", pipeline: SMALL },
        { name: "east", url: services.east.url, tokenEnv: "EAST", pipeline: SMALL, warehouse: "here" },
      ],
      ...more,
    }),
  );
  const env = { ...STRAY, NORTH: TOKENS.north, EAST: TOKENS.east };
  const run = async (args: readonly string[]) => {
    const all = [...args, "--fleet", join(folder, "fleet.json"), "--quiet", "--json"];
    const { text } = await ran(runCommand, all, { env, cwd: "/" });
    return JSON.parse(text) as { readonly directory: string };
  };
  return { folder, services, run };
}

test("each instance is read from its own service with its own token, into its own warehouse", async (t) => {
  const { folder, services, run } = await fleet(t);
  const warehouses = { north: "warehouses/north", south: "warehouses/south", east: "here" };
  for (const [index, name] of (["north", "south", "east"] as const).entries()) {
    const { directory } = await run(["--instance", name]);
    assert.ok(directory.startsWith(join(folder, warehouses[name], "runs/000001-")), directory);
    assert.deepEqual(await rowsOf(directory, "SELECT count(*) FROM content"), [[String(index + 3)]]);
    const credentials = basicCredentials(new Secret(TOKENS[name]));
    assert.deepEqual([...services[name].authorizations], [credentials]);
  }
  // The configuration that they share says how, and not where.
  assert.ok(services.north.asked("list", "full").every(({ perPage }) => perPage === 2));
});

long("a run holds itself to its share of the host's rate", async (t) => {
  // Each service has a port, and so a host, of its own: the instance has all of the rate.
  const { services, run } = await fleet(t, { hostRatePerSecond: 5 });
  const askedMs: number[] = [];
  services.east.script = () => {
    askedMs.push(performance.now());
    return undefined;
  };
  await run(["--instance", "east"]);
  const tookMs = (askedMs.at(-1) ?? 0) - (askedMs[0] ?? 0);
  assert.ok(askedMs.length > 4);
  // The first may arrive late, and the next come closer.
  assert.ok(tookMs > (askedMs.length - 2) * 200, `${askedMs.length} requests in ${tookMs} ms`);
});

long("the instances have their own names in a lake that their configuration shares", async (t) => {
  t.after(environment({ CONTENT_WAREHOUSE_INSTANCE: undefined }));
  const { folder, run } = await fleet(t);
  const url = pathToFileURL(join(folder, "lake")).href;
  await writeFile(join(folder, "shared.json"), JSON.stringify({ targets: [{ type: "lake", url }] }));
  await run(["--instance", "north"]);
  await run(["--instance", "east"]);
  const instances = (await readdir(join(folder, "lake/content"))).filter((name) =>
    name.startsWith("instance="),
  );
  assert.deepEqual(instances.toSorted(), ["instance=east", "instance=north"]);
});

test("instances that share a configuration have metrics of their own, by their names", async (t) => {
  const { folder, run } = await fleet(t);
  const settings = (namespace: string) =>
    writeFile(
      join(folder, "shared.json"),
      JSON.stringify({
        metricsFile: "{instance}.prom",
        openLineage: { file: "lineage-{instance}.ndjson", namespace },
      }),
    );
  await settings("nights");
  const refused = await failsWith("config.invalid", run(["--instance", "north"]));
  assert.match(
    refused.message,
    /^\S+shared\.json: `openLineage\.namespace`: several instances of the fleet would have the same; put `\{instance\}` where/,
  );
  await settings("nights-{instance}");
  await run(["--instance", "north"]);
  await run(["--instance", "east"]);
  const files = (await readdir(folder)).filter((name) => /^lineage|prom$/.test(name));
  assert.deepEqual(files.toSorted(), [
    "east.prom",
    "lineage-east.ndjson",
    "lineage-north.ndjson",
    "north.prom",
  ]);
  assert.match(await readFile(join(folder, "lineage-north.ndjson"), "utf8"), /"namespace":"nights-north"/);
});

test("only a module's setting tells instances apart by their names, and only by whole ones", async (t) => {
  const { folder, run } = await fleet(t);
  const refused = async (instance: string, config: string) => {
    await writeFile(
      join(folder, "fleet.json"),
      JSON.stringify({
        config,
        instances: ["no", "north"].map((name) => {
          return { name, url: `https://${name}.example.com`, tokenEnv: "NORTH" };
        }),
      }),
    );
    const { message } = await failsWith("config.invalid", run(["--instance", instance]));
    return message.includes("several instances of the fleet would have the same");
  };
  const settings = (metricsFile: string) => JSON.stringify({ metricsFile, perPage: 0 });
  await writeFile(join(folder, "shared.json"), settings("node_exporter/no.prom"));
  await writeFile(join(folder, "chance.mjs"), `export default ${settings("node_exporter/cw.prom")}`);
  await writeFile(
    join(folder, "computed.mjs"),
    `export default { metricsFile: "node_exporter/cw-" + process.env.CONTENT_WAREHOUSE_INSTANCE + ".prom", perPage: 0 };`,
  );
  assert.deepEqual(
    [
      await refused("no", "shared.json"),
      await refused("no", "chance.mjs"),
      await refused("no", "computed.mjs"),
    ],
    [true, true, false],
  );
});

test("--instance finds the warehouse and the configuration for every other command, too", async (t) => {
  const { folder, run } = await fleet(t);
  const url = pathToFileURL(join(folder, "lake")).href;
  await writeFile(join(folder, "shared.json"), JSON.stringify({ targets: [{ type: "lake", url }] }));
  const { directory } = await run(["--instance", "east"]);
  const name = basename(directory);
  const asked = ["--instance", "east", "--fleet", join(folder, "fleet.json")];
  for (const [make, ...words] of [
    [runsCommand, "list"],
    [runsCommand, "show", "current"],
    [verifyCommand],
    [targetsCommand],
    [lakeCommand, "status"],
    [deliverCommand],
  ] as const) {
    const { text, error } = await outcome(make, [...words, ...asked]);
    assert.equal(error, undefined, words.join(" "));
    assert.ok(text.includes(name), `${words.join(" ")}: ${text}`);
  }
  assert.equal(
    await capture(sqlCommand, ["SELECT count(*) FROM content", "--format", "csv", ...asked]),
    "count_star()\n5\n",
  );
});

test("an instance without a configuration has none, whatever lies in the working directory", async (t) => {
  const { folder } = await fleet(t, { config: undefined });
  await mkdir(join(folder, "warehouses/north/runs"), { recursive: true });
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, "content-warehouse.config.json"), "of another project");
  const asked = ["--instance", "north", "--fleet", join(folder, "fleet.json")];
  const pruned = await outcome(runsCommand, ["prune", ...asked], { cwd });
  assert.deepEqual([pruned.text, pruned.exitCode], ["nothing to remove\n", 0]);
  const { error } = await outcome(deliverCommand, asked, { cwd });
  assert.match(error?.message ?? "", /^No targets are configured/);
});

test("every command that takes a warehouse or a configuration takes --instance in its place", async () => {
  const flags = (command: Command) => command.options.map(({ long }) => long);
  const placed = everyCommand(await commandLine()).filter((command) =>
    flags(command).some((flag) => flag === "--warehouse" || flag === "--config"),
  );
  assert.ok(placed.length > 20);
  // `init` writes the configuration of one instance.
  const without = placed.filter((command) => !flags(command).includes("--instance"));
  assert.deepEqual(
    without.map((command) => command.name()),
    ["init"],
  );
});

test("a service that refuses, or is not there, is told with the place in the fleet file", async (t) => {
  const { services, run } = await fleet(t);
  services.north.script = () => ({ status: 401, body: {} });
  services.south.script = () => ({ status: 401, body: {} });
  services.east.script = () => ({ status: 404, body: {} });
  for (const [instance, code, place] of [
    ["north", "source.credentials", /check the API token \(\S+fleet\.json: instances\[0\]\.tokenEnv\)/],
    ["south", "source.credentials", /check the API token \(\S+fleet\.json: instances\[1\]\.tokenFile\)/],
    ["east", "config.not_found", /check the URL \(\S+fleet\.json: instances\[2\]\.url\)/],
  ] as const) {
    const { message } = await failsWith(code, run(["--instance", instance]));
    assert.match(message, place);
    assert.doesNotMatch(message, /CONTENT_API/);
  }
});

test("a run that its target did not take says so to whoever runs it again", async (t) => {
  const { folder, run } = await fleet(t);
  const target = { type: "postgres", url: "postgres://loader@127.0.0.1:1/reports" };
  await writeFile(join(folder, "shared.json"), JSON.stringify({ targets: [target] }));
  const output: unknown = await run(["--instance", "north"]);
  const end = { exitCode: 26, signal: null, output, lastLine: "", tookMb: null };
  const outcome = outcomeOf(end, { memoryMb: 512 });
  assert.ok(outcome.after === "retry", outcome.after);
  assert.match(outcome.message, /^Not delivered to postgres: PostgreSQL at 127\.0\.0\.1:1\/reports failed: /);
});

test("what belongs to the instance is not said beside it", async (t) => {
  const { services, run } = await fleet(t);
  for (const flags of [
    ["--url", "http://127.0.0.1:1"],
    ["--sample"],
    ["--warehouse", "x"],
    ["--config", "x.json"],
  ]) {
    await assert.rejects(run(["--instance", "north", ...flags]), { code: "commander.conflictingOption" });
  }
  await failsWith("config.not_found", run(["--instance", "west"]));
  assert.equal(services.north.questions.length, 0);
});
