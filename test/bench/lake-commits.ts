/** Commits a second on one table: a process for each instance, all at once. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defineTable, text } from "../../src/tables/declare.ts";
import { readTable } from "../../src/targets/lake/delta/read.ts";
import type { StoreOptions } from "../../src/targets/store/address.ts";
import { openStore } from "../../src/targets/store/open-store.ts";
import { startS3 } from "../engines/s3-server.ts";
import type { CommitterSettings } from "./lake-committer.ts";
import { run } from "./programs.ts";

const COMMITTERS = [1, 2, 4, 8];
const SECONDS = 10;
/** Until all processes have begun. */
const START_MS = 15_000;

export const BENCHED = defineTable({
  name: "benched",
  comment: "A table.",
  stage: "query",
  key: ["id"],
  columns: [text("id", { comment: "Key.", required: true })],
});

export async function benchCommits(folder: string, seconds = SECONDS): Promise<object> {
  await using server = await startS3();
  Object.assign(process.env, server.env);
  const rounds: object[] = [];
  for (const committers of COMMITTERS) {
    const place = `with-${committers}`;
    const file = { url: pathToFileURL(join(folder, place)).href };
    const bucket = { url: `s3://${server.bucket}/${place}`, endpoint: server.endpoint };
    rounds.push({
      committers,
      fileStore: await perSecond(file, committers, seconds),
      versitygw: await perSecond(bucket, committers, seconds),
    });
  }
  return { seconds, rounds };
}

async function perSecond(store: StoreOptions, committers: number, seconds: number): Promise<number> {
  const fromMs = Date.now() + START_MS;
  const made = await Promise.all(
    Array.from({ length: committers }, (_, at) => {
      const settings: CommitterSettings = {
        store,
        instance: `instance-${at}`,
        fromMs,
        untilMs: fromMs + seconds * 1000,
      };
      return run<{ commits: number }>({ script: "lake-committer.ts", args: [JSON.stringify(settings)] });
    }),
  );
  const commits = made.reduce((sum, each) => sum + each.commits, 0);
  await using opened = await openStore(store, new AbortController().signal);
  const state = await readTable(opened, BENCHED.name);
  if (state?.version !== commits - 1) throw new Error(`${commits} commits made version ${state?.version}`);
  return Number((commits / seconds).toFixed(1));
}
