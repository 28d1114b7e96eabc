/** What changed since the run before: the same answer as of `diff`. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { RunAccount } from "../../audit/questions/account.ts";
import { diffAnswer } from "../../audit/questions/diff-answer.ts";
import type { RunPair } from "../../audit/questions/diff-runs.ts";
import type { EarlierRuns } from "../../audit/questions/earlier-runs.ts";
import { readKnownRuns } from "../../audit/questions/run-history.ts";
import type { PagePart } from "./page.ts";
import { comparison, partOf } from "./parts.ts";

interface Reported {
  /** Has the tables of the run, and those of the run before beside them where that is known. */
  readonly connection: DuckDBConnection;
  readonly account: RunAccount;
  readonly hasHistory: boolean;
  readonly earlier: EarlierRuns | undefined;
}

export async function changesPart(reported: Reported): Promise<PagePart> {
  const pair = await pairOf(reported);
  const part = partOf("changes", "Changes", "diff", []);
  if (pair === undefined)
    return { ...part, lead: reported.hasHistory ? BEGINS : comparison(reported.earlier) };
  const filter = { cause: undefined, destination: undefined, field: undefined };
  const options = { filter, items: false, limit: undefined };
  return { ...part, ...(await diffAnswer(reported.connection, pair, options)), bars: { causes: ["values"] } };
}

const BEGINS =
  "The history begins with this run: from the next one on, what changed stands here, with its cause.";

/** The run and the one before it, by its own history, else by both their tables; undefined: nothing tells of both. */
async function pairOf({ connection, account, hasHistory, earlier }: Reported): Promise<RunPair | undefined> {
  const { run } = account;
  const after = comparedRun(account);
  if (hasHistory) {
    const known = await readKnownRuns(connection);
    const own = known.find((each) => each.run === run);
    const before = known.find((each) => each.run === own?.previousRun);
    return before && { before: comparedRun(before), after, basis: run };
  }
  const { before } = earlier ?? {};
  if (before === undefined) return undefined;
  return {
    before: comparedRun({ ...before, verdict: before.manifest.verdict }),
    after,
    basis: undefined,
  };
}

function comparedRun({ run, sequence, verdict }: RunPair["before"]): RunPair["before"] {
  return { run, sequence, verdict };
}
