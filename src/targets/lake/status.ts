/** Lists the instances of a lake with their last runs. */
import { type Answer, type AnswerRow, col, section } from "../../common/answer.ts";
import { mapLimited } from "../../storage/parallel.ts";
import { readTable } from "./delta/log.ts";
import { instanceNames, type LakeSession, readInstance } from "./instance.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";

const required = { required: true } as const;

const INSTANCE_COLUMNS = {
  instance: col.name(required),
  /** NULL if no delivery has finished. */
  run: col.name({ head: "last run" }),
  verdict: col.name(),
  delivered: col.instant(),
  tables: col.count(required),
  rows: col.count(required),
  origin: col.text({ head: "service" }),
  id: col.text({ hidden: true }),
  sequence: col.count({ hidden: true }),
  delivery: col.count({ hidden: true }),
  /** Whether a later delivery has not finished. */
  unfinished: col.flag({ ...required, hidden: true }),
} as const;

async function statusOf(session: LakeSession): Promise<AnswerRow<typeof INSTANCE_COLUMNS>> {
  const { last, isUnfinished } = await readInstance(session, null);
  return {
    instance: session.instance,
    run: last?.run ?? null,
    verdict: last?.verdict ?? null,
    delivered: last && new Date(last.deliveredMs),
    tables: last?.rows.length ?? 0,
    rows: last?.rows.reduce((sum, { rows }) => sum + rows, 0) ?? 0,
    origin: last?.service.origin ?? null,
    id: last?.service.id ?? null,
    sequence: last?.sequence ?? null,
    delivery: last?.delivery ?? null,
    unfinished: isUnfinished,
  };
}

/** The instances of a lake. */
export async function lakeStatus(session: LakeSession): Promise<Answer> {
  const { address } = session.store;
  const names = instanceNames(await readTable(session.store, RUN_SNAPSHOTS.name));
  const rows = await mapLimited(names, (instance) => statusOf({ ...session, instance }));
  const unfinished = rows.filter((each) => each.unfinished);
  return {
    lead: rows.length === 0 ? `Nothing was delivered to ${address} yet.` : `The lake in ${address}.`,
    facts: { address },
    sections: [
      section({
        key: "instances",
        title: "Instances",
        none: "",
        columns: INSTANCE_COLUMNS,
        rows,
        limit: 1000,
      }),
    ],
    next: unfinished.map(
      ({ instance }) =>
        `${instance}: a delivery has not finished; its tables may mix two runs until the next delivery; "content-warehouse deliver" does it now.`,
    ),
  };
}
