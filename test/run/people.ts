/** People in every place where the contract has users, and a service that is told to erase them. */
import { join } from "node:path";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import { dynamicItem } from "../../src/api/dynamic.ts";
import { fullItem } from "../../src/api/full.ts";
import { type UserField, userFields } from "../../src/api/user.ts";
import { WarehouseError } from "../../src/common/errors.ts";
import type { Log } from "../../src/common/log.ts";
import type { Config } from "../../src/config/config.ts";
import type { Target } from "../../src/pipeline.ts";
import { failsWith } from "../failing.ts";
import { either } from "../long.ts";
import { exportFrom, HISTORY, NIGHTLY, temporaryFolder } from "./running.ts";
import { item, type Json, Scripted } from "./scripted.ts";

export const NEEDLE = "Needle Roe 7f3a";

/** Part of an address that stands where no user does. */
export const OTHER_NEEDLE = "other.needle-7f3a";
const ADDRESS = `${OTHER_NEEDLE}@example.com`;
const URL = `https://${ADDRESS}:secret@example.com/?to=${ADDRESS}&cc=${encodeURIComponent(ADDRESS)}`;
const ADDRESSES = {
  title: URL,
  author: ADDRESS,
  published_urls: [URL],
  field_locks: { [ADDRESS]: "locked" },
  custom_field_values: { "cf-1": { name: OTHER_NEEDLE, email: ADDRESS, file_url: URL } },
  something_new: [{ [ADDRESS]: [URL] }],
};

export const USER = {
  id: "u-1",
  name: NEEDLE,
  name_sort: NEEDLE,
  email: `${NEEDLE}@example.com`,
  bio: `${NEEDLE} writes.`,
  short_bio: NEEDLE,
  phone: `+43 ${NEEDLE}`,
  slug: NEEDLE,
  avatar_feed_url: `https://example.com/${NEEDLE}.png`,
  avatar_profile_url: `https://example.com/${NEEDLE}.png`,
  tz: "Europe/Vienna",
};
const SENT: readonly unknown[] = [
  USER,
  [USER],
  [[{ id: "u-1", label: { text: NEEDLE } }]],
  { id: { value: { name: NEEDLE } }, profile: { person: { name: NEEDLE } } },
];

/** A value in a place, and objects and lists around it as the contract has them. */
function around(path: readonly string[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const inner = around(rest, value);
  return step === "[]" ? [inner] : { [step === "{}" ? "cf-1" : step]: inner };
}

/** One item for each place and each form, two with fields that no user stands in, and two rejects; in both modes. */
export function itemsWith(places: readonly UserField[], forms = SENT): unknown[] {
  const documents = places.flatMap(({ path }) => forms.map((value) => around(path, value) as Json));
  return [
    ...documents.map((document, index) => item(`c-${index}`, index + 1, document)),
    item("c-unknown", 1, { authorEmail: USER.email, reviewer: { contact_email: USER.email } }),
    item("c-addresses", 1, ADDRESSES),
    { title: "No ID", author: USER, approved_by: USER, contact_email: USER.email },
    [{ email: USER.email }],
  ];
}

export const PLACES = [...userFields(dynamicItem), ...userFields(fullItem)];

/** A log, and all that it was told. */
export function recordingLog(): { readonly log: Log; readonly lines: unknown[] } {
  const lines: unknown[] = [];
  const log = new Proxy(
    {},
    {
      get:
        () =>
        (...line: unknown[]) =>
          lines.push(line),
    },
  ) as Log;
  return { log, lines };
}

/**
 * A night that keeps personal data, and a second that is interrupted; then the service erases the person, and a run
 * reads everything again. `said`: what that run said.
 */
export async function rereadWithout(t: TestContext, targets: readonly Target[]) {
  const service = await Scripted.start(t, itemsWith(PLACES, either([USER], SENT)));
  const out = join(await temporaryFolder(t), "warehouse");
  const { log, lines } = recordingLog();
  const personalData = { policy: "keep", key: null } as const;
  const night = (asked: Partial<Config>, signal?: AbortSignal) =>
    exportFrom({
      url: service.url,
      out,
      log,
      pipelineUrl: either(HISTORY, NIGHTLY),
      ...(signal && { signal }),
      config: { perPage: 100, details: "all", personalData, targets, ...asked },
    });
  await night({});
  const ended = new AbortController();
  service.script = ({ kind, mode }) => {
    if (kind === "list" && mode === "full")
      ended.abort(new WarehouseError("run.interrupted", "The run was ended early."));
    return undefined;
  };
  await failsWith("run.interrupted", night({ rereadDays: 0 }, ended.signal));
  service.script = () => undefined;
  service.items = JSON.parse(JSON.stringify(service.items).replaceAll(NEEDLE, ""));
  lines.length = 0;
  const summary = await night({ rereadDays: 0, reread: true });
  return { out, summary, said: inspect([lines, summary], { depth: 20, maxStringLength: null }) };
}
