/** How each instance of a fleet stands. */
import { parseRunName } from "../warehouse/layout.ts";
import type { FleetInstance } from "./fleet.ts";
import { type LastRun, lastRuns } from "./last-runs.ts";
import { type JobState, jobStates, type Queue } from "./queue.ts";

export interface InstanceStatus extends LastRun {
  readonly instance: string;
  /** How long ago a run should have begun that did not; null: none is late, or there is no schedule. */
  readonly lateSeconds: number | null;
  /** Null: it has neither a job nor a dead letter. */
  readonly job: JobState | null;
}

const NO_RUN: LastRun = { published: null, failures: 0, exitCode: null, message: null };

/** In the order of the file. `nowMs`: milliseconds since 1970. */
export async function fleetStatus(queue: Queue, nowMs: number): Promise<readonly InstanceStatus[]> {
  const [runs, jobs] = await Promise.all([lastRuns(queue), jobStates(queue)]);
  return queue.fleet.instances.map((instance) => {
    const last = runs.get(instance.name) ?? NO_RUN;
    const lateSeconds = lateness(queue, instance, last, nowMs);
    return { instance: instance.name, ...last, lateSeconds, job: jobs.get(instance.name) ?? null };
  });
}

/** Against the first time that its schedule names after the last published run began. */
function lateness(
  { boss }: Queue,
  { schedule }: FleetInstance,
  { published }: LastRun,
  nowMs: number,
): number | null {
  if (schedule === null || published === null) return null;
  const from = parseRunName(published.run)?.startedAt;
  const [due] = from === undefined ? [] : boss.previewSchedule(schedule, { from, count: 1 });
  return due === undefined || due.getTime() >= nowMs ? null : (nowMs - due.getTime()) / 1000;
}
