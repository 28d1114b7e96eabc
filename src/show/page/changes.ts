/** What changed since the run before: the same answer as of `diff`. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { RunAccount } from "../../audit/questions/account.ts";
import { diffAnswer } from "../../audit/questions/diff-answer.ts";
import type { RunPair } from "../../audit/questions/diff-runs.ts";
import { readKnownRuns } from "../../audit/questions/run-history.ts";
import type { PagePart } from "./page.ts";
import { partOf } from "./parts.ts";

/**
 * By the run's own history alone, from which a person is erased with this page: what only the run before has may show
 * somebody who is erased from that run later, without this page being made anew.
 */
export async function changesPart(
  connection: DuckDBConnection,
  { run }: RunAccount,
  hasHistory: boolean,
): Promise<PagePart> {
  const part = partOf("changes", "Changes", "diff", []);
  if (!hasHistory) return { ...part, lead: WITHOUT_HISTORY };
  const known = await readKnownRuns(connection);
  const after = known.find((each) => each.run === run);
  const before = known.find((each) => each.run === after?.previousRun);
  if (after === undefined || before === undefined) return { ...part, lead: BEGINS };
  const pair = { before: comparedRun(before), after: comparedRun(after), basis: run };
  const filter = { cause: undefined, destination: undefined, field: undefined };
  const answer = await diffAnswer(connection, pair, { filter, items: false, limit: undefined });
  return { ...part, ...answer, charts: { causes: { values: "length" } } };
}

const WITHOUT_HISTORY =
  'The pipeline of this run leaves the history out, so this page cannot say what changed; "content-warehouse diff" compares two runs that are kept.';
const BEGINS =
  "The history begins with this run: from the next one on, what changed stands here, with its cause.";

function comparedRun({ run, sequence, verdict }: RunPair["before"]): RunPair["before"] {
  return { run, sequence, verdict };
}
