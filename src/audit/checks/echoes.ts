/** What a run says where the service repeats the API token in its answers. */

import { count } from "../../common/figures.ts";
import { printable } from "../../common/printable.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { Check } from "./checks.ts";

const MAX_NAMED = 5;

export function echoCheck(drift: readonly DriftEntry[]): Check {
  const echoes = echoesIn(drift);
  return {
    name: "texts in which the service repeats the API token",
    verdict: echoes.length === 0 ? "passed" : "warning",
    figure: sumOf(echoes),
    expected: 0,
    detail:
      echoes.length === 0 ? "" : `each is published with [redacted] in its place; in ${namesOf(echoes)}`,
  };
}

export function echoWarnings(drift: readonly DriftEntry[]): string[] {
  const echoes = echoesIn(drift);
  if (echoes.length === 0) return [];
  return [
    `The service repeats the API token in ${count(sumOf(echoes))} texts (${namesOf(echoes)}): [redacted] is published in its place. Ask its operator why others may read it there.`,
  ];
}

/** Those that there are most of first. */
function echoesIn(drift: readonly DriftEntry[]): DriftEntry[] {
  return drift.filter(({ kind }) => kind === "token_redacted").sort((a, b) => b.count - a.count);
}

function sumOf(echoes: readonly DriftEntry[]): number {
  return echoes.reduce((sum, echo) => sum + echo.count, 0);
}

function namesOf(echoes: readonly DriftEntry[]): string {
  const named = echoes.slice(0, MAX_NAMED).map(({ path }) => JSON.stringify(printable(path, 60)));
  return named.join(", ") + (echoes.length > MAX_NAMED ? ` and ${echoes.length - MAX_NAMED} more` : "");
}
