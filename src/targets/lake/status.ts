/** Lists the instances of a lake with their last runs. */
import { type Answer, type AnswerRow, col, section } from "../../common/answer.ts";
import { minuteOf } from "../../common/figures.ts";
import { mapLimited } from "../../storage/parallel.ts";
import { readTable } from "./delta/log.ts";
import { instanceNames, readInstance } from "./instance.ts";
import type { LakeSession } from "./session.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";

const required = { required: true } as const;

const INSTANCE_COLUMNS = {
  instance: col.name(required),
  /** NULL if no delivery has finished. */
  run: col.name({ head: "last run" }),
  verdict: col.name(),
  /** Minute of the delivery, and whether a later one has not finished. */
  delivered: col.name(required),
  tables: col.count(required),
  rows: col.count(required),
  origin: col.text({ head: "service" }),
  id: col.text({ hidden: true }),
  sequence: col.count({ hidden: true }),
  delivery: col.count({ hidden: true }),
  /** ISO 8601, UTC. */
  deliveredAt: col.text({ hidden: true }),
  unfinished: col.flag({ ...required, hidden: true }),
} as const;

export async function lakeStatus(session: LakeSession) {
  const names = instanceNames(await readTable(session.store, RUN_SNAPSHOTS.name));
  const instances = await mapLimited(names, (instance) => statusOf({ ...session, instance }));
  return { address: session.store.address, instances };
}

async function statusOf(session: LakeSession): Promise<AnswerRow<typeof INSTANCE_COLUMNS>> {
  const { last, number, isUnfinished } = await readInstance(session, null);
  const at = last === null ? null : new Date(last.deliveredMs);
  const unfinished = isUnfinished ? `delivery ${number} has not finished` : null;
  return {
    instance: session.instance,
    run: last?.run ?? null,
    verdict: last?.verdict ?? null,
    delivered: [at && minuteOf(at), unfinished].filter((each) => each !== null).join("; "),
    tables: last?.rows.length ?? 0,
    rows: last?.rows.reduce((sum, { rows }) => sum + rows, 0) ?? 0,
    origin: last?.service.origin ?? null,
    id: last?.service.id ?? null,
    sequence: last?.sequence ?? null,
    delivery: last?.delivery ?? null,
    deliveredAt: at?.toISOString() ?? null,
    unfinished: isUnfinished,
  };
}

export const LAKE_STATUS = ["instances"] as const;

export function lakeStatusAnswer({ address, instances }: Awaited<ReturnType<typeof lakeStatus>>): Answer {
  const unfinished = instances.filter((each) => each.unfinished).map(({ instance }) => instance);
  return {
    lead: instances.length === 0 ? `Nothing was delivered to ${address} yet.` : `The lake in ${address}.`,
    facts: { address },
    sections: [
      section({
        key: "instances",
        title: "Instances",
        none: "",
        columns: INSTANCE_COLUMNS,
        rows: instances,
        limit: 1000,
      }),
    ],
    next: unfinished.map(
      (instance) =>
        `${instance}: its tables may mix two runs until the next delivery; "content-warehouse deliver" does it now.`,
    ),
  };
}
