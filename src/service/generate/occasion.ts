import type { Document } from "../content-set.ts";
import { DAY_MS, iso, type Plan } from "./plan.ts";
import { Random } from "./random.ts";
import type { Story } from "./story.ts";

/** Facts of events and webinars; dates as `MM/DD/YY`, on the first Saturday some weeks after the item was begun. */
export function occasionOf(plan: Plan, { index, planned, createdMs, place }: Story): Partial<Document> {
  const random = Random.at(plan.seed, "occasion", index);
  const begin = createdMs + random.int(21, 80) * DAY_MS;
  const saturday = begin + ((6 - new Date(begin).getUTCDay()) % 7) * DAY_MS;
  if (planned.words.kind === "webinar" && saturday < plan.profile.nowMs) {
    return {
      webinar_playback_url: `https://live.${plan.instance.subdomain}.example/replay/${random.hex(12)}`,
    };
  }
  if (planned.words.kind !== "event") return {};
  return {
    event: {
      event_start_date: usDate(saturday),
      event_end_date: usDate(saturday + random.int(0, 2) * DAY_MS),
      latitude: place.latitude,
      longitude: place.longitude,
      place_id: `plc_${Random.at(plan.seed, "place", place.name).hex(20)}`,
      timezone_name: place.tz,
    },
  };
}

function usDate(ms: number): string {
  const [year = "", month = "", day = ""] = iso(ms).slice(0, 10).split("-");
  return `${month}/${day}/${year.slice(2)}`;
}
