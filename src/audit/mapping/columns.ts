/** Columns that several answers share: what people read of destinations, fields, values and items. */
import { col } from "../../common/answer.ts";
import { RECEPTION, RECEPTION_TEXT } from "./value-counts.ts";

const required = { required: true } as const;

/** A destination or field without a name is shown by its ID. */
export const DESTINATION = {
  destination_id: col.text(required),
  destination: col.text({ shown: (row) => row.destination ?? row.destination_id }),
} as const;

export const RECEIVER = {
  destination_id: DESTINATION.destination_id,
  /** With the reason, if it receives nothing. */
  destination: col.text({
    shown: ({ destination, destination_id, reception }) => {
      const name = destination ?? destination_id;
      const why = RECEPTION.of.find((each) => each === reception && each !== "receiving");
      return why === undefined ? name : `${name} (${RECEPTION_TEXT[why]})`;
    },
  }),
  reception: RECEPTION,
} as const;

export const FIELD = {
  custom_field_id: col.text(required),
  custom_field: col.text({ head: "field", shown: (row) => row.custom_field ?? row.custom_field_id }),
} as const;

/** A select value: internal text and display text, which is shown in brackets if it differs. */
export const VALUE = {
  value: col.text({
    shown: ({ value, value_id, display }) =>
      value != null && display != null && value !== display ? `${value} (${display})` : (value ?? value_id),
  }),
  display: col.text(),
} as const;

/** An item, shown by its title, else by its ID. */
export const ITEM = {
  content_id: col.name({ ...required, head: "item" }),
  title: col.text({ shown: ({ title, content_id }) => shortTitle(String(title ?? content_id)) }),
} as const;

/** Characters of a title in an answer. */
const TITLE_LENGTH = 80;

/** A title in a sentence or table, cut if it is long. */
export function shortTitle(title: string): string {
  return title.length > TITLE_LENGTH ? `${title.slice(0, TITLE_LENGTH - 1).trimEnd()}…` : title;
}
