import type { Vocabulary } from "../vocabulary.ts";
import { campaigns } from "./campaigns.ts";
import * as company from "./company.ts";
import { fields } from "./fields.ts";
import * as people from "./people.ts";
import { press, productLeads } from "./press.ts";
import { titles } from "./titles.ts";
import { topics } from "./topics.ts";
import { translations } from "./translations.ts";
import * as types from "./types.ts";

/** Tarnbrook Outdoor: an invented maker of outdoor equipment and its invented marketing team. */
export const tarnbrook: Vocabulary = {
  ...company,
  ...people,
  ...types,
  campaigns,
  fields,
  press,
  productLeads,
  titles,
  topics,
  translations,
};
