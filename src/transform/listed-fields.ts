/** Counts the items of each content type whose full document lists a custom field, with or without a value. */
import { isObject } from "../common/json.ts";
import type { RawItem } from "../raw/document.ts";

export interface ListedField {
  readonly contentTypeId: string;
  readonly customFieldId: string;
  readonly items: number;
}

/** Memory grows with the number of content types and fields, not of items. */
export class ListedFields {
  /** Items by content type and custom field. */
  readonly #counts = new Map<string, Map<string, number>>();

  /** An item counts once for each field in the latest full document that has custom fields. */
  count({ views }: RawItem): void {
    const view = views.find(
      ({ shape, document }) => shape === "full" && Array.isArray(document.custom_fields),
    );
    const { content_type: type, custom_fields: fields } = view?.document ?? {};
    const contentTypeId = isObject(type) ? type.id : type;
    if (typeof contentTypeId !== "string" || !Array.isArray(fields)) return;
    const ids = fields.flatMap((field) => (isObject(field) && typeof field.id === "string" ? field.id : []));
    for (const customFieldId of new Set(ids)) this.add({ contentTypeId, customFieldId, items: 1 });
  }

  add({ contentTypeId, customFieldId, items }: ListedField): void {
    const fields = this.#counts.get(contentTypeId) ?? new Map<string, number>();
    this.#counts.set(contentTypeId, fields);
    fields.set(customFieldId, (fields.get(customFieldId) ?? 0) + items);
  }

  /** The counts since the last call. */
  take(): ListedField[] {
    const listed = [...this.#counts].flatMap(([contentTypeId, fields]) =>
      [...fields].map(([customFieldId, items]) => ({ contentTypeId, customFieldId, items })),
    );
    this.#counts.clear();
    return listed;
  }
}
