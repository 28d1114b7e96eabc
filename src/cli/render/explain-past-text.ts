/** What an item produced in a run whose files are gone: what its history says, without steps and evidence. */
import type { MappedValue } from "../../audit/mapping/mapped-value.ts";
import type { PastExplanation } from "../../audit/questions/explain-past.ts";
import type { HeldValue } from "../../audit/questions/item-history.ts";
import {
  BLANK,
  bare,
  isWanted,
  type Line,
  partsText,
  payloadLines,
  quoted,
  shownInstant,
  sinceSentence,
  type Told,
  titleText,
  withId,
} from "./explain-sentences.ts";

export function pastText(explanation: PastExplanation, told: Told): string {
  const { destinations } = explanation;
  const wanted = wantedValues(explanation, told);
  const byDestination = Map.groupBy(wanted, ({ row }) => row.destinationId);
  const answers = [...byDestination].map(([id, held]) => {
    const at = bare(destinations.get(id) ?? id);
    const names = new Set(held.map(({ row }) => row.externalFieldName));
    const members = [...(explanation.payloads.get(id) ?? [])].filter(([name]) => names.has(name));
    const fields = [...Map.groupBy(held, ({ row }) => row.customFieldId)];
    return [
      ...payloadLines(members, `${at} received:`, `${at} received nothing by this.`),
      ...fields.flatMap(([fieldId, values]) => fieldLines(explanation, fieldId, values)),
    ];
  });
  const none: Line = ["", "Nothing that it had was mapped, as far as that was asked for."];
  const parts = [headingLines(explanation, told), ...(wanted.length === 0 ? [[none]] : answers)];
  return partsText(parts, told.width);
}

function headingLines({ item, past }: PastExplanation, told: Told): Line[] {
  const { contentId, slug, title } = item;
  const names =
    title === null && slug === null
      ? `Item ${bare(contentId)}, which the current run does not have.`
      : `Item ${bare(contentId)}${slug === null ? "" : `, slug ${bare(slug)}`}, as it is called now.`;
  const unsettled =
    past.verdict === "unsettled" ? ", which was unsettled, so that what it did not see counts as it was" : "";
  const source = `This is what run ${past.run} of ${shownInstant(past.startedAt)} published${unsettled}, as the history of run ${told.run} has it. The run's own files are gone, and with them the steps of the mapping procedure and the evidence.`;
  return [titleText(title, told), names, source].map((text) => ["", text]);
}

function fieldLines({ fields }: PastExplanation, fieldId: string, values: readonly HeldValue[]): Line[] {
  const own = bare(fields.get(fieldId) ?? fieldId);
  const name = values[0]?.row.externalFieldName ?? null;
  const called = name === null ? "without a name there" : `called ${quoted(name)} there`;
  return [
    BLANK,
    ["  ", `${withId(own, fieldId)}, ${called}`],
    ...values.map(({ row, since }): Line => ["     ", `${valueSentence(row)} ${sinceSentence(since)}`]),
  ];
}

function valueSentence(row: MappedValue): string {
  const own = row.value ?? row.valueId;
  const value = own === null ? "A value without text" : quoted(own);
  const archived = row.valueArchived ? ", archived," : "";
  switch (row.status) {
    case "mapped": {
      const made = row.externalValue === null ? "mapped to nothing" : `made ${quoted(row.externalValue)}`;
      return `${value}${archived} was ${made} by the entry ${bare(row.mappingValueId ?? "")}.`;
    }
    case "unmapped":
      return `${value}${archived} had no entry in the mapping ${bare(row.mappingId)}: unmapped.`;
    case "unknown_value":
      return `${value} was none of the field's values: unknown.`;
    case "no_value_mapping":
      return `${value} stood in a field without value mappings.`;
  }
}

function wantedValues({ values }: PastExplanation, { destinationIds, fieldIds }: Told): HeldValue[] {
  return values.filter(
    ({ row }) => isWanted(destinationIds, row.destinationId) && isWanted(fieldIds, row.customFieldId),
  );
}

export function pastJson(explanation: PastExplanation, told: Told): object {
  const { item, past, payloads, destinations, fields } = explanation;
  const { run, sequence, startedAt, verdict, passthrough } = past;
  return {
    run,
    sequence,
    startedAt,
    verdict,
    passthrough,
    historyOf: told.run,
    item,
    destinations: [...destinations]
      .filter(([id]) => isWanted(told.destinationIds, id))
      .map(([destinationId, identification]) => {
        const members = payloads.get(destinationId);
        const payload = members === undefined ? null : Object.fromEntries(members);
        return { destinationId, identification, payload };
      }),
    fields: [...fields]
      .filter(([id]) => isWanted(told.fieldIds, id))
      .map(([customFieldId, name]) => ({ customFieldId, name })),
    values: wantedValues(explanation, told).map(({ row, since }) => ({ ...row, since })),
    steps: null,
    evidence: null,
  };
}
