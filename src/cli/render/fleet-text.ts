/** What the commands on a fleet say. */
import { count, duration, minuteOf } from "../../common/figures.ts";
import type { InstanceStatus } from "../../fleet/status.ts";
import { drawInParts, right, whole } from "./table.ts";
import { paragraph, printableLine } from "./terminal.ts";

/** A table, and below it why runs failed. */
export function fleetStatusText(instances: readonly InstanceStatus[], width: number | undefined): string {
  const columns = [
    whole("instance"),
    whole("last run"),
    whole("verdict"),
    whole("ended"),
    right("late"),
    right("failures"),
    whole("job"),
  ];
  const rows = instances.map(({ instance, published, lateSeconds, failures, job }) => [
    instance,
    published?.run ?? "never",
    published?.verdict ?? "",
    published === null ? "" : minuteOf(new Date(published.endedMs)),
    lateSeconds === null ? "" : duration(lateSeconds),
    failures === 0 ? "" : count(failures),
    job === null
      ? ""
      : `${job.state} ${job.state === "dead letter" ? "since" : "from"} ${minuteOf(new Date(job.fromMs))}`,
  ]);
  const reasons = instances.flatMap(({ instance, message }) =>
    message === null ? [] : [paragraph(`${instance}: `, printableLine(message), width)],
  );
  return [drawInParts({ columns, rows }, 1, width), ...reasons].join("");
}
