/**
 * `npm run bench -- --items 10000`: what an export costs, the embedded service included. A content set is generated,
 * served by a process of its own and exported by another; time, CPU time and peak memory of the export are printed,
 * and whether the published run is complete and counts what was generated. No test asserts a time: machines differ.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { removeTree } from "../../src/run/tree.ts";
import { generateContentSet } from "../../src/service/generate/generate.ts";

const { values } = parseArgs({ options: { items: { type: "string", default: "10000" } } });
const items = Number(values.items);
const folder = await mkdtemp(join(tmpdir(), "content-warehouse-bench-"));
try {
  const set = join(folder, "set");
  await generateContentSet({ items, seed: 1, out: set });
  const service = start("service.ts", [set], {});
  try {
    const { url, token } = JSON.parse(await firstLine(service));
    const began = performance.now();
    const exported = start("export.ts", [join(folder, "warehouse")], {
      CONTENT_API_URL: url,
      CONTENT_API_TOKEN: token,
    });
    const result = JSON.parse(await firstLine(exported));
    report(result, (performance.now() - began) / 1000);
  } finally {
    service.kill("SIGTERM");
  }
} finally {
  await removeTree(folder);
  await rm(folder, { recursive: true, force: true });
}

interface Result {
  readonly summary: {
    readonly verdict: string;
    readonly accounting: { readonly loaded: number };
    readonly bytesReceived: number;
    readonly tables: readonly { readonly rows: number }[];
  };
  readonly peakMemoryMb: number;
  readonly cpuSeconds: number;
}

function report({ summary, peakMemoryMb, cpuSeconds }: Result, seconds: number): void {
  const { verdict, accounting, bytesReceived, tables } = summary;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const correct = verdict === "complete" && accounting.loaded === items;
  const figures = {
    items,
    seconds: round(seconds),
    itemsPerSecond: Math.round(items / seconds),
    rowsPerSecond: Math.round(rows / seconds),
    receivedMb: round(bytesReceived / 1e6),
    cpuSeconds: round(cpuSeconds),
    peakMemoryMb: Math.round(peakMemoryMb),
    correct,
    machine: `${availableParallelism()} x ${cpus()[0]?.model.trim() ?? "unknown"}, Node ${process.versions.node}`,
  };
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  if (!correct) process.exitCode = 1;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function start(script: string, args: readonly string[], env: Record<string, string>): ChildProcess {
  const path = fileURLToPath(new URL(script, import.meta.url));
  return spawn(process.execPath, [path, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new TypeError("the process has no output");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error(`the process ended without a result (exit code ${child.exitCode})`);
}
