import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock } from "../../../src/common/clock.ts";
import { EMPTY_RESUME } from "../../../src/extract/landing/checkpoint.ts";
import { Journal } from "../../../src/extract/landing/journal.ts";
import { Landing, LandingThreads } from "../../../src/extract/landing/landing.ts";
import { ItemIndex } from "../../../src/raw/item-index.ts";
import { RawPaths } from "../../../src/raw/raw-folder.ts";
import { RawIndex } from "../../../src/raw/raw-index.ts";
import { DROP } from "../../policies.ts";

/** A landing of both listings with one thread. */
export async function landingIn(t: TestContext, directory: string) {
  const threads = new LandingThreads(1, {
    ...DROP,
    token: "",
    details: "none",
    settings: "",
  });
  t.after(() => threads[Symbol.asyncDispose]());
  const journal = new Journal();
  const options = {
    threads,
    files: new RawPaths(join(directory, "raw"), 1),
    index: new RawIndex(new ItemIndex()),
    directory,
    resumeState: EMPTY_RESUME,
    listings: 2,
    journal,
    clock: systemClock,
  };
  return { landing: new Landing(options), options, journal };
}
