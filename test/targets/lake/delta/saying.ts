import type { TableState } from "../../../../src/targets/lake/delta/state.ts";

/** What a state says of its table, however it was read. */
export function saying({ version, protocol, metaData, files, removed, transactions }: TableState): unknown {
  const values = (entries: ReadonlyMap<string, object>) =>
    [...entries.values()].map((each) => JSON.stringify(each)).toSorted();
  const runs = [...transactions].map(([instance, { number, lastUpdatedMs }]) => [
    instance,
    number,
    lastUpdatedMs,
  ]);
  return {
    version,
    protocol,
    metaData,
    files: values(files),
    removed: values(removed),
    runs: runs.toSorted(),
  };
}
