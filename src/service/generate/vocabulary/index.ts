import type { Vocabulary } from "../vocabulary.ts";
import {
  campaigns,
  collections,
  destinations,
  firstNames,
  groups,
  instance,
  lastNames,
  people,
  personas,
  places,
  stages,
  types,
} from "./company.ts";
import { fields } from "./fields.ts";
import { topics } from "./topics.ts";

/** Tarnbrook Outdoor: an invented maker of outdoor equipment and its invented marketing team. */
export const tarnbrook: Vocabulary = {
  instance,
  types,
  people,
  firstNames,
  lastNames,
  groups,
  campaigns,
  destinations,
  fields,
  topics,
  places,
  personas,
  stages,
  collections,
};
