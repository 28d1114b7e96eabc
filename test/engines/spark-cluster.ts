/** A standalone cluster of Spark, as processes: one master, two workers of one core. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sparkEnv } from "./lake-engine.ts";

export interface SparkCluster extends AsyncDisposable {
  /** `spark://127.0.0.1:PORT`. */
  readonly master: string;
  /** Process groups: a worker and what it started. */
  readonly workers: readonly number[];
}

export async function startCluster(): Promise<SparkCluster> {
  const folder = await mkdtemp(join(tmpdir(), "spark-cluster-"));
  const env = { ...process.env, ...(await sparkEnv()), SPARK_NO_DAEMONIZE: "1", SPARK_LOCAL_IP: "127.0.0.1" };
  const processes: ChildProcess[] = [];
  /** Starts a part of it, and gives what its log says once it is up. */
  const start = async (part: string, args: readonly string[], isUp: RegExp): Promise<string> => {
    const flags = ["--host", "127.0.0.1", "--webui-port", "0", ...args];
    const child = spawn("spark-class", [`org.apache.spark.deploy.${part}`, ...flags], {
      env,
      cwd: folder,
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
    });
    processes.push(child);
    let log = "";
    for await (const text of child.stderr) {
      log += text;
      const [, found] = isUp.exec(log) ?? [];
      if (found === undefined) continue;
      return found;
    }
    return assert.fail(`${part} did not start:\n${log}`);
  };
  const master = await start("master.Master", ["--port", "0"], /Starting Spark master at (spark:\S+)/);
  const worker = ["--cores", "1", "--memory", "1g", "--work-dir", folder, master];
  for (let each = 0; each < 2; each++) {
    await start("worker.Worker", worker, /Successfully registered with master (spark:\S+)/);
  }
  return {
    master,
    workers: processes.slice(1).map(({ pid }) => pid ?? assert.fail("no process")),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(processes.map(end));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  process.kill(-(child.pid ?? assert.fail("no process")), "SIGKILL");
  await exit;
}
