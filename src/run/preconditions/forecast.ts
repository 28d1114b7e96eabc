/** How many requests a run would make, and whether they fit its deadline. A run does not depend on what it says. */
import { asWarehouseError } from "../../common/errors.ts";
import { duration } from "../../common/figures.ts";
import { wantedBy } from "../../extract/wanted-columns.ts";
import { pageSizesOf, rateOf } from "../../warehouse/baseline.ts";
import { wantedDestinations } from "../facts.ts";
import {
  forecastFacts,
  forecastOf,
  forecastSection,
  forecastText,
  type Tonight,
} from "../forecast/forecast.ts";
import { type RecordedRun, readRunBefore, reusedTonight, singlesWanted } from "../forecast/run-before.ts";
import { ok, skipped, warning } from "./finding.ts";
import { type Facts, type Step, step } from "./step.ts";

type Known = Partial<Pick<Facts, "resumable" | "goesOnFrom">> &
  Pick<Facts, "options" | "pipeline" | "folder" | "baseline" | "source" | "client" | "personalFields"> & {
    readonly answer: NonNullable<Facts["answer"]>;
  };

export const FORECAST: readonly Step[] = [
  step({
    name: "requests",
    needs: ["options", "pipeline", "folder", "baseline", "source", "client", "answer", "personalFields"],
    async *look({ answer, ...known }) {
      if (answer === null) return yield skipped("requests", "needs an answer of the service");
      try {
        yield* forecastFindings({ ...known, answer });
      } catch (thrown) {
        known.options.signal.throwIfAborted();
        yield warning(
          "requests",
          `nobody can tell how many a run would make: ${asWarehouseError(thrown).message}`,
        );
      }
    },
  }),
];

async function* forecastFindings(known: Known) {
  const { config } = known.options;
  const { baseline, folder } = known;
  // What is to be restored shows its manifest alone.
  const isHere = known.goesOnFrom?.isHere ?? true;
  const before = isHere ? await readRunBefore(baseline, folder.staging) : undefined;
  const tonight = await tonightOf(known, before);
  const forecast = forecastOf(tonight, before);
  const { singles, ratePerSecond } = tonight;
  const { rereadDays, reread, raw, deadlineMinutes } = config;
  const table = forecastSection(forecast, { rereadDays, reread, raw, singles });
  const read = known.resumable == null ? "" : ", less what the interrupted run has read";
  const lent = isHere ? "" : ", less what the restored run lends";
  const text = `${forecastText(forecast, ratePerSecond)}${read}${lent}`;
  const fits = deadlineMinutes === null || (forecast.milliseconds ?? 0) <= deadlineMinutes * 60_000;
  const finding = fits
    ? ok("requests", text)
    : warning(
        "requests",
        `${text}, and \`deadlineMinutes\` (${duration((deadlineMinutes ?? 0) * 60)}) would end the run first: set it higher, or \`ratePerSecond\` if the service allows more; started again, a run goes on`,
      );
  yield { ...finding, table, facts: forecastFacts(forecast, singles) };
}

const NONE_REUSED = { reused: 0, whyNone: null };

async function tonightOf(known: Known, before: RecordedRun | undefined): Promise<Tonight> {
  const { options, pipeline, source, baseline, answer } = known;
  const { config } = options;
  const { details } = wantedBy(pipeline, config);
  const { wanted, granted } = await singlesWanted(known, details, before);
  const found = rateOf(baseline);
  const rates = [config.ratePerSecond, found].filter((rate) => rate !== null);
  return {
    items: answer.items,
    listings: pipeline.listings,
    perPage: config.perPage,
    pageSizes: pageSizesOf(baseline),
    granted,
    singles: { wanted, ...(before === undefined ? NONE_REUSED : await reusedTonight(known, before, wanted)) },
    destinations: wantedDestinations({ pipeline, source }).length,
    customFields: pipeline.customFields !== undefined,
    ratePerSecond: rates.length === 0 ? null : Math.min(...rates),
    concurrency: config.concurrency,
  };
}
