/** Takes the steps of a run for a person: all of them, and says what each found. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import type { Log } from "../../common/log.ts";
import type { Secret } from "../../common/secret.ts";
import { type ConfigInputs, configFileName, loadConfig, warehouseFolder } from "../../config/config.ts";
import { ConfigError } from "../../config/faults.ts";
import type { FreeBytes } from "../../warehouse/disk.ts";
import type { RunOptions } from "../context.ts";
import { type CheckName, type Finding, failed, ok, skipped } from "./finding.ts";
import { PRECONDITIONS } from "./list.ts";
import { type Facts, knowsEnough, type Machine, release, type Step, step } from "./step.ts";

export interface CheckRequest extends Machine {
  readonly inputs: ConfigInputs;
  /** Where it is told that the service asks for fewer requests; shows none of the secrets. */
  readonly logFor: (secrets: readonly Secret[]) => Log;
}

/** Changes nothing and publishes nothing. Failures are findings; it throws the signal's reason alone. */
export async function* check({ inputs, logFor, ...given }: CheckRequest): AsyncGenerator<Finding> {
  // A folder that was made for the check is gone when its room is asked for.
  const freeBytes: FreeBytes = (folder) => given.freeBytes(nearestFolder(folder));
  const machine = { ...given, freeBytes };
  const facts: Partial<Facts> = { machine };
  const told = new Set<CheckName>();
  const wants: Wants = new Map();
  yield ok("node", machine.nodeVersion);
  try {
    for (const each of [configuration(inputs, logFor), warehousePath(inputs), ...PRECONDITIONS]) {
      for await (const finding of lookAt(each, facts, wants)) {
        // What a signal made fail is no finding, and what was told is not told again for want of it.
        machine.signal.throwIfAborted();
        if (finding.status !== "skipped" || !told.has(finding.check)) yield finding;
        told.add(finding.check);
      }
    }
  } finally {
    await release(facts, facts.options?.log ?? logFor([]));
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** The check that finds a fact out, and what the fact is called. */
const FACTS: Partial<Readonly<Record<keyof Facts, readonly [CheckName, string]>>> = {
  options: ["configuration", "configuration and token"],
  warehouse: ["configuration", "a configuration"],
  pipeline: ["pipeline", "the pipeline"],
  folder: ["warehouse", "the warehouse"],
  lock: ["lock", "the lock"],
  found: ["current run", "the current run"],
  targets: ["target", "the targets"],
  goesOnFrom: ["target", "the run that a target has"],
  baseline: ["current run", "the current run"],
  isKnownAddress: ["instance", "the instance"],
  source: ["service", "the service"],
  client: ["service", "the service"],
  answer: ["service", "an answer of the service"],
  personalFields: ["personal fields", "the personal fields"],
};

/** By check: what it was skipped for. */
type Wants = Map<CheckName, string>;

/** What failed: where the check that finds the missing fact out was itself skipped, what that one was skipped for. */
function missingOf({ needs }: Step, facts: Partial<Facts>, wants: Wants): string {
  const missing = needs.find((need) => facts[need] === undefined);
  const [by, called] = (missing && FACTS[missing]) ?? [];
  if (by === undefined || called === undefined) throw new TypeError(`nothing is called ${missing}`);
  return wants.get(by) ?? called;
}

async function* lookAt(each: Step, facts: Partial<Facts>, wants: Wants): AsyncGenerator<Finding> {
  const { name, tells = [name] } = each;
  if (!knowsEnough(facts, each)) {
    const missing = missingOf(each, facts, wants);
    wants.set(name, missing);
    for (const told of tells) yield skipped(told, `needs ${missing}`);
    return;
  }
  try {
    Object.assign(facts, await each.meet?.(facts));
    for await (const found of each.look?.(facts) ?? []) {
      if ("learnt" in found) Object.assign(facts, found.learnt);
      else yield found;
    }
  } catch (thrown) {
    yield failed(name, thrown);
  }
}

/** That of a run is read before there is a log to tell of it. */
function configuration(inputs: ConfigInputs, logFor: CheckRequest["logFor"]): Step {
  return step({
    name: "configuration",
    needs: ["machine"],
    async *look({ machine }) {
      const read = ok("configuration", configFileName(inputs) ?? "no file; options, variables and defaults");
      const config = await loadConfig(inputs).catch((thrown: unknown) => asWarehouseError(thrown));
      if (config instanceof WarehouseError) return yield* configFailures(config, read);
      yield read;
      yield ok("token", tokenText(config));
      const secrets = config.source.kind === "service" ? config.source.secrets : [];
      yield { learnt: { options: { ...machine, config, log: logFor(secrets), onProgress: () => {} } } };
    },
  });
}

/** It may be known where the rest of the configuration is wrong. */
function warehousePath(inputs: ConfigInputs): Step {
  return step({
    name: "warehouse",
    needs: [],
    async *look() {
      const path = await warehouseFolder(inputs).catch(() => undefined);
      if (path !== undefined) yield { learnt: { warehouse: path } };
    },
  });
}

/** Those of the token have a line of their own. */
function* configFailures(error: WarehouseError, read: Finding): Generator<Finding> {
  const unread = skipped("token", "needs a configuration");
  const faults = error instanceof ConfigError ? error.faults : [];
  const token = faults.filter(({ about }) => about === "token");
  const others = faults.filter(({ about }) => about !== "token");
  if (token.length === 0) {
    yield failed("configuration", error);
    yield unread;
    return;
  }
  yield others.length > 0 ? failed("configuration", new ConfigError(others)) : read;
  yield failed("token", new ConfigError(token));
}

function tokenText({ source }: RunOptions["config"]): string {
  if (source.kind === "sample") return "none needed for the sample";
  const { tokenFrom } = source;
  return tokenFrom === "CONTENT_API_TOKEN" ? tokenFrom : `${tokenFrom}, which only its owner can read`;
}
