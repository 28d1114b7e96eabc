import type { FieldWords } from "../vocabulary.ts";
import { audienceFields } from "./fields-audience.ts";
import { editorialFields } from "./fields-editorial.ts";
import { productFields } from "./fields-product.ts";

/** The custom fields of the marketing team, with what it has forgotten to map. */
export const fields: readonly FieldWords[] = [...audienceFields, ...productFields, ...editorialFields];
