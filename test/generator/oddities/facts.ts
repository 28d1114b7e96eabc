import type { Document, DocumentTask } from "../../../src/service/content-set.ts";
import { toSecond } from "../../../src/service/content-set.ts";
import { DAY_MS, iso, sharedId } from "../plan.ts";
import type { OddityChange, OddityEffect } from "./effect.ts";

function task({ context, random }: OddityChange, shape: Partial<DocumentTask>): DocumentTask {
  return {
    id: random.hex(24),
    completed: false,
    completion_action: "complete",
    deadline: iso(context.story.createdMs + 10 * DAY_MS),
    deadline_offset: null,
    deadline_offset_unit: null,
    deadline_offset_task_id: null,
    deadline_offset_task_action: null,
    description: "Review",
    position: 0,
    state: 1,
    owner_ids: [context.userId],
    ...shape,
  };
}

/** Changes facts of an event. */
function event(facts: Document["event"]) {
  return ({ document }: OddityChange) => ({ event: { ...document.event, ...facts } });
}

/** States, people, dates, events, tasks, the gallery, fields that nobody has heard of. */
export const factOddities = {
  "only what every item has": { harsh: true, without: "all" },
  archived: { set: { archived: true } },
  deleted: { set: ({ document }) => ({ deleted_at: toSecond(document.updated_at) }) },
  "updated without fraction": { set: ({ document }) => ({ updated_at: toSecond(document.updated_at) }) },
  "instant with fraction": {
    set: ({ document }) => ({ assigned_date: document.created_at.replace("Z", ".250Z") }),
  },
  "instant unreadable": { harsh: true, set: { assigned_date: "last Tuesday" } },
  "event without date": { kind: "event", set: event({ event_start_date: null, event_end_date: null }) },
  "event date unreadable": { kind: "event", set: event({ event_start_date: "Whitsun weekend" }) },
  "event date impossible": { kind: "event", harsh: true, set: event({ event_end_date: "02/30/26" }) },
  "event without place": {
    kind: "event",
    set: event({ latitude: null, longitude: null, place_id: null, timezone_name: null }),
  },
  "event without facts": { kind: "event", harsh: true, without: ["event"] },
  "campaign not described": {
    set: ({ document, context: { plan } }) => ({
      campaigns: [...(document.campaigns ?? []), sharedId(plan.seed, "campaign", "gone")],
    }),
  },
  "user not described": {
    set: ({ context: { plan } }) => ({
      author: sharedId(plan.seed, "user", "gone"),
      last_updated_by: sharedId(plan.seed, "user", "gone"),
    }),
  },
  "nobody assigned": { set: { author: null, owner: null, assigned_date: null } },
  "no person known": { harsh: true, without: ["author", "creator", "owner", "last_updated_by"] },
  "task without owner": { set: (change) => ({ tasks: [task(change, { owner_ids: [] })] }) },
  "task without deadline": { set: (change) => ({ tasks: [task(change, { deadline: null })] }) },
  "task with several owners": {
    set: (change) => {
      const owners = change.random.some(change.context.plan.users, 3).map(({ id }) => id);
      return { tasks: [task(change, { owner_ids: [...owners, ...owners.slice(0, 1)] })] };
    },
  },
  "task after another": {
    set: (change) => {
      const first = task(change, { completed: true, state: 2, description: "First draft" });
      const second = task(change, {
        position: 1,
        deadline: null,
        deadline_offset: 3,
        deadline_offset_unit: "days",
        deadline_offset_task_id: first.id,
        deadline_offset_task_action: "completed",
      });
      return { tasks: [first, second] };
    },
  },
  "tasks all completed": { set: (change) => ({ tasks: [task(change, { completed: true, state: 2 })] }) },
  "no tasks": { set: { tasks: [] } },
  "published without address": {
    set: {
      published: true,
      published_urls: [
        { external_site_name: "Web CMS", published_url: null },
        { external_site_name: "Partner Portal", published_url: "" },
      ],
    },
  },
  "status as text": { set: { status: "waiting for pictures" } },
  "status as object": {
    harsh: true,
    set: { status: { code: 3, labels: ["late", null], since: "2026-02-01" } },
  },
  "gallery in full": {
    set: ({ document, context, random }) => {
      const [first = "", second = ""] = context.plan.collectionIds;
      return {
        gallery: {
          ...document.gallery,
          collections: [
            { collection_id: first, added_date: document.created_at, rank: 1 },
            { collection_id: second, added_date: document.created_at.replace("Z", ".500Z") },
          ],
          pinned: true,
          download_url: `https://files.tarnbrook.example/download/${random.hex(12)}`,
          gallery_share_settings: [],
          gallery_viewer_compatibility: "pdf",
          doc_provider_file_id: random.hex(33),
          doc_provider_preview_url: `https://docs.example/d/${random.hex(33)}/preview`,
        },
      };
    },
  },
  "favourite of everybody": {
    set: ({ document, context }) => ({
      favorites: context.plan.users.map(({ id }) => ({ user_id: id, date: document.updated_at })),
    }),
  },
  "being edited by two": {
    set: ({ context, random }) => ({
      currently_editing: random.some(context.plan.users, 2).map((user) => ({
        id: user.id,
        name: user.name,
        avatar_url: user.avatar_thumbnail_url,
        last_seen: Math.floor(context.plan.profile.nowMs / 1000) - random.int(5, 900),
      })),
    }),
  },
  "fields locked": {
    set: { locked: true, field_locks: { body: { locked: true }, title: { locked: false } } },
  },
  "original not in the set": {
    set: ({ context: { plan } }) => ({ localized_from_id: sharedId(plan.seed, "content", "gone") }),
  },
  "unknown text": {
    set: {
      unknown: { ai_summary: "Three tips and a list, written for beginners.", ai_summary_version: 2 },
    },
  },
  "unknown personal field": {
    set: {
      unknown: { contact_email: "workshop.desk@tarnbrook.example", contact_phone: "+44 20 7946 0301" },
    },
  },
  "unknown object": {
    set: {
      unknown: {
        performance: {
          views: 1204,
          sources: [{ name: "search", share: 0.61 }, null],
          reviewer: { reviewer_name: "R. Sample", verdict: "keep" },
        },
      },
    },
  },
  "unknown awkward names": {
    harsh: true,
    set: {
      unknown: {
        constructor: "data",
        "order by": 1,
        Title: "another title",
        'with "quotes"': true,
        "": "no name",
      },
    },
  },
} as const satisfies Readonly<Record<string, OddityEffect>>;
