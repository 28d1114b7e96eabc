/** OpenLineage run events: START when the run has its name, then COMPLETE or FAIL. */
import { appendFile } from "node:fs/promises";
import type { EndedRun, Observer, StartedRun } from "./observer.ts";
import { endEvent, startEvent } from "./open-lineage-events.ts";
import { postJson } from "./post.ts";
import type { OpenLineageSettings } from "./settings.ts";

/** A run that ended before it had a name (another one has the lock, the disk is full) is no run of the job. */
export function openLineageObserver({ to, namespace }: OpenLineageSettings): Observer {
  let started: StartedRun | undefined;
  const send = (event: unknown, signal: AbortSignal) =>
    "file" in to ? appendFile(to.file, `${JSON.stringify(event)}\n`) : postJson(to, event, signal);
  return {
    name: "`openLineage`",
    onEvent: () => {},
    onStart: (run, signal) => {
      started = run;
      return send(startEvent(run, namespace), signal);
    },
    onEnd: async (ended: EndedRun, signal) => {
      if (started !== undefined) await send(endEvent(started, ended, namespace), signal);
    },
  };
}
