import { longBody } from "../writing.ts";
import type { OddityEffect } from "./effect.ts";

/** Titles, bodies and labels. */
export const wordOddities = {
  "title missing": { without: ["title"] },
  "title null": { set: { title: null } },
  "title empty": { harsh: true, set: { title: "" } },
  "title formula": {
    harsh: true,
    set: { title: '=cmd|"/c calc"!A1 and =HYPERLINK("https://tarnbrook.example")' },
  },
  "title markup": { harsh: true, set: { title: `<b>New</b> & "quoted" <script>alert('title')</script>` } },
  "title emoji": { kind: "social", set: ({ document }) => ({ title: `🏔️ ${document.title} 👩🏽‍🚀⛺` }) },
  "title right to left": {
    harsh: true,
    set: { title: "مراجعة الحذاء \u202eFellgate Mid\u202c خمسة أيام في الجبال" },
  },
  "title long": {
    harsh: true,
    set: ({ document }) => ({ title: `${document.title} – ${"and on it goes ".repeat(40).trim()}` }),
  },
  "title with line breaks": {
    harsh: true,
    set: ({ document }) => ({ title: `  ${document.title}\n{"level":"info"}\tpasted\r\n` }),
  },
  "title repeated": { kind: "card", set: { title: "Monthly planning" } },
  "body with script": {
    kind: "article",
    harsh: true,
    set: ({ document }) => ({
      content: `${document.content}\n<script>document.cookie="x=1"</script><p onclick="go()">Pasted <a href="javascript:go()">from</a> an old page.</p><iframe src="https://video.example/1"></iframe>`,
    }),
  },
  "body very long": {
    kind: "article",
    harsh: true,
    everyRounds: 5,
    set: ({ context, random }) => ({
      content: longBody(context.plan, context.story, 200_000 + random.int(0, 60_000)),
      body_fragment: null,
    }),
  },
  "body empty": { kind: "article", set: { content: "" } },
  "body missing": { kind: "article", harsh: true, without: ["content"] },
  "body with control characters": {
    kind: "article",
    harsh: true,
    set: ({ document }) => ({
      content: `${document.content}<p>Line\u2028separator, zero\u200bwidth, nul\u0000, bell\u0007 and escape\u001b[31m.</p>`,
    }),
  },
  "tags repeated": { set: ({ document: { tags = [] } }) => ({ tags: [...tags, ...tags] }) },
  "tags with null": {
    harsh: true,
    set: ({ document: { tags = [] } }) => ({ tags: [...tags, null, "camping"] }),
  },
  "tags with empty text": { set: ({ document: { tags = [] } }) => ({ tags: ["", ...tags, " camping "] }) },
  "tags empty": { set: { tags: [] } },
  "categories with null": {
    harsh: true,
    set: ({ document }) => ({ categories: [null, ...(document.categories ?? []), null] }),
  },
  "categories missing": { without: ["categories"] },
} as const satisfies Readonly<Record<string, OddityEffect>>;
