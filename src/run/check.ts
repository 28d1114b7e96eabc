/** Rehearses a run: prepares it, changes nothing, and reports what each step found. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type Answer, type AnswerRow, col, section } from "../common/answer.ts";
import { asWarehouseError } from "../common/errors.ts";
import { pluralize } from "../common/figures.ts";
import type { Log } from "../common/log.ts";
import type { Secret } from "../common/secret.ts";
import { type ConfigInputs, loadConfig } from "../config/config.ts";
import { configFileName } from "../config/config-file.ts";
import { noProxyWarnings } from "../config/no-proxy.ts";
import { createObservers, observeWith } from "../observe/observers.ts";
import type { RunInputs, StepListener } from "./inputs.ts";
import { prepare } from "./prepare.ts";
import { closeOpened, type OpenResources } from "./source.ts";

const STEPS = {
  status: col.text({ required: true, of: ["ok", "warning", "failed"] }),
  check: col.name({ required: true }),
  detail: col.text({ required: true }),
} as const;
type CheckRow = AnswerRow<typeof STEPS>;

interface CheckRequest extends Omit<RunInputs, "config" | "log" | "onProgress"> {
  readonly inputs: ConfigInputs;
  /** Makes the log for warnings of the client. It shows none of the secrets. */
  readonly logFor: (secrets: readonly Secret[]) => Log;
}

/**
 * `exitCode`: code that the run would end with; 0 if it can start. A failure is a row of the answer. Throws only the
 * reason of the signal.
 */
export async function check({ inputs, logFor, ...machine }: CheckRequest) {
  const steps: CheckRow[] = [];
  let current = "configuration";
  let exitCode = 0;
  const listener: StepListener = {
    begin(step) {
      current = step;
    },
    note: (detail) => void steps.push({ status: "ok", check: current, detail }),
    warn: (detail) => void steps.push({ status: "warning", check: current, detail }),
  };
  const opened: OpenResources = {};
  let log = logFor([]);
  try {
    listener.begin("configuration");
    const config = await loadConfig(inputs);
    if (config.source.kind === "service") log = logFor(config.source.secrets);
    listener.note(configFileName(inputs) ?? "no file; options, variables and defaults");
    for (const warning of noProxyWarnings(inputs.env)) listener.warn(warning);
    const runInputs = {
      ...machine,
      config,
      log,
      onProgress: () => {},
      // The check has removed the folders that it made.
      freeBytes: (folder: string) => machine.freeBytes(nearestFolder(folder)),
    };
    const observed = { warehouse: config.warehouse, clock: machine.clock };
    const observers = observeWith(createObservers(config.observe, observed), observed);
    await prepare({ inputs: runInputs, opened, listener, observers, isRehearsal: true });
  } catch (thrown) {
    machine.signal.throwIfAborted();
    const error = asWarehouseError(thrown);
    exitCode = error.exitCode;
    steps.push({ status: "failed", check: current, detail: error.message });
  } finally {
    await closeOpened(opened, log);
  }
  return { answer: answerOf(steps, exitCode), exitCode };
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

function answerOf(steps: readonly CheckRow[], exitCode: number): Answer {
  const warnings = steps.filter(({ status }) => status === "warning").length;
  const failed = steps.find(({ status }) => status === "failed");
  return {
    lead:
      failed === undefined
        ? `A run can start${warnings === 0 ? "" : `, with ${pluralize(warnings, "warning")}`}.`
        : `A run would fail at "${failed.check}", and exit with ${exitCode}.`,
    isWell: exitCode === 0,
    facts: { ok: exitCode === 0, exit_code: exitCode },
    sections: [section({ key: "checks", title: "Checks", columns: STEPS, rows: steps, isLines: true })],
  };
}
