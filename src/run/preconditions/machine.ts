/** The program that is to run: its memory, and the pipeline. */
import { readFile } from "node:fs/promises";
import { assertTestsFit } from "../../audit/checks/tests-fit.ts";
import { codeOf, WarehouseError } from "../../common/errors.ts";
import { counted, megabytes } from "../../common/figures.ts";
import { loadPipeline } from "../../transform/pipelines.ts";
import { ok } from "./finding.ts";
import { type Step, step } from "./step.ts";

/** Reserved by Node and the database, hardly any of it used: with less no run was seen to reach its end. */
const MIN_ADDRESS_SPACE = 10_400_000_000;
/** Reserved by V8 for each thread. */
const THREAD_ADDRESS_SPACE = 600_000_000;

/** What the kernel says of this process; undefined on systems that have no such file. */
async function processLimits(): Promise<string | undefined> {
  try {
    return await readFile("/proc/self/limits", "utf8");
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

/**
 * Throws `config.invalid` where a run of so many threads cannot have the address space that it needs (`ulimit -v`): V8 ends
 * the process in the middle of a run then, without a word.
 */
export function assertAddressSpace(limits: string | undefined, threads: number): void {
  const [, limit] = /^Max address space +(\d+) /m.exec(limits ?? "") ?? [];
  const needed = MIN_ADDRESS_SPACE + threads * THREAD_ADDRESS_SPACE;
  if (limit === undefined || Number(limit) >= needed) return;
  throw new WarehouseError(
    "config.invalid",
    `The limit on virtual memory (ulimit -v) is ${megabytes(Number(limit))}, and a run reserves ${megabytes(needed)}, of which it uses little; ` +
      "lift it, and limit memory by a cgroup or a container instead.",
  );
}

export const MACHINE: readonly Step[] = [
  step({
    name: "memory",
    needs: ["machine"],
    async meet({ machine }) {
      assertAddressSpace(await processLimits(), machine.threads);
      return {};
    },
    async *look() {
      yield ok("memory", "no limit on virtual memory that a run would meet");
    },
  }),
  step({
    name: "pipeline",
    needs: ["machine"],
    async meet({ machine: { pipeline } }) {
      const loaded = typeof pipeline === "string" ? await loadPipeline(pipeline) : pipeline;
      await assertTestsFit(loaded);
      return { pipeline: loaded };
    },
    async go({ pipeline, observers }) {
      observers?.loaded(pipeline.name);
    },
    async *look({ pipeline }) {
      const { name, tables, tests } = pipeline;
      const tested = tests.length === 0 ? "" : ` and ${counted(tests.length, "test")}`;
      yield ok("pipeline", `${name}, of ${counted(tables.length, "table")}${tested}`);
    },
  }),
];
