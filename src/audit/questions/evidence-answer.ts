/** Where it was read, as a section of an answer: the document, the response that it came with, and the lookups. */
import { col, type RowOf, type Section, section } from "../../common/answer.ts";
import { counted } from "../../common/figures.ts";
import type { Evidence, EvidenceOfItem } from "./evidence.ts";
import type { ItemExplanation } from "./explain.ts";

export const EVIDENCE = {
  what: col.text({ required: true }),
  request: col.count(),
  answered: col.instant(),
  pass: col.count(),
  page: col.count(),
  position: col.count(),
  sha256: col.name({ required: true, head: "SHA-256" }),
  file: col.text(),
} as const;

export type EvidenceRow = RowOf<typeof EVIDENCE>;

const NO_DOCUMENT =
  "The run keeps no raw document of the item, so that its values are those of content_custom_field_values.";

export function evidenceSection({ evidence, mapped }: ItemExplanation): Section {
  const { ledger, payloads } = mapped;
  const kept = evidence.document === undefined ? `${NO_DOCUMENT} ` : "";
  return section({
    key: "evidence",
    title: "Where this was read",
    lead: `${kept}The run published the same: ${counted(ledger.length, "row")} of content_mapped_values and ${counted(payloads.size, "payload")} for this item, compared with what the rules give.`,
    columns: EVIDENCE,
    rows: [...itemEvidenceRows(evidence), ...evidence.lookups.map(responseRow)],
    limit: 1000,
  });
}

const NONE = { request: null, answered: null, pass: null, page: null, position: null, file: null };

/** Of the item alone. */
export function itemEvidenceRows({
  document,
  reused,
}: Pick<EvidenceOfItem, "document" | "reused">): EvidenceRow[] {
  return [
    ...(document === undefined ? [] : [documentRow(document)]),
    ...reused.map(({ run, observedAt, sha256 }) => ({
      ...NONE,
      what: `item document, read by run ${run}`,
      answered: new Date(observedAt),
      sha256,
    })),
    ...(document?.request === undefined ? [] : [responseRow(document.request)]),
  ];
}

function responseRow({
  mode,
  request,
  observedAt,
  pass,
  page,
  sha256,
}: Evidence["lookups"][number]): EvidenceRow {
  return { ...NONE, what: `${mode} response`, request, answered: new Date(observedAt), pass, page, sha256 };
}

function documentRow({
  mode,
  pass,
  page,
  position,
  sha256,
  file,
}: NonNullable<EvidenceOfItem["document"]>): EvidenceRow {
  // One that was asked for singly stood on no page.
  const listed = mode === "item" ? {} : { pass, page, position };
  return { ...NONE, ...listed, what: `${mode} document`, sha256, file };
}
