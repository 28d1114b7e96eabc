/** What a run says where the service repeats the API token in its answers. */

import { count } from "../../common/figures.ts";
import { printable } from "../../common/printable.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import { type Judged, noneExpected } from "./checks.ts";

const MAX_NAMED = 5;

export function judgeEchoes(drift: readonly DriftEntry[]): Judged {
  const echoes = drift.filter(({ kind }) => kind === "token_redacted").sort((a, b) => b.count - a.count);
  const total = echoes.reduce((sum, echo) => sum + echo.count, 0);
  const name = "texts in which the service repeats the API token";
  if (total === 0) return { checks: [noneExpected(name, 0, "")], warnings: [] };
  const detail = `each is published with [redacted] in its place; in ${namesOf(echoes)}`;
  const warning = `The service repeats the API token in ${count(total)} texts (${namesOf(echoes)}): [redacted] is published in its place. Ask its operator why others may read it there.`;
  return { checks: [noneExpected(name, total, detail)], warnings: [warning] };
}

/** Those that there are most of first. */
function namesOf(echoes: readonly DriftEntry[]): string {
  const named = echoes.slice(0, MAX_NAMED).map(({ path }) => JSON.stringify(printable(path, 60)));
  return named.join(", ") + (echoes.length > MAX_NAMED ? ` and ${echoes.length - MAX_NAMED} more` : "");
}
