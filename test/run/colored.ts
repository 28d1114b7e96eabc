/** Items with values of one custom field, a select named "color", which has mappings for destinations. */
import type { TestContext } from "node:test";
import { type Item, itemsOf, type Json, type Question, Scripted } from "./scripted.ts";

type Value = readonly [id: string, text: string];

/** Gives each item the value of its place; further items have the last one. For `arrange` of a service. */
export function colored(...values: readonly Value[]) {
  return (items: readonly unknown[], { mode }: Question): Item[] =>
    items.map((each, place) => {
      const [id, value] = values[Math.min(place, values.length - 1)] ?? ["", ""];
      const field = {
        id: "f1",
        name: "color",
        field_type: "select",
        value,
        select_value_ids: { [id]: value },
      };
      const views = {
        dynamic: { custom_fields: { f1: value }, custom_field_value_ids: { f1: id } },
        full: { custom_fields: [field] },
        basic: {},
      };
      return { ...(each as Item), ...views[mode] };
    });
}

/** The definition of the field. `sent`: by destination, the external value of an ID. */
export function colorField(
  values: readonly Value[],
  sent: Readonly<Record<string, readonly [id: string, external: string]>>,
): Json {
  return {
    id: "f1",
    name: "color",
    field_type: "select",
    formatted_select_values: values.map(([id, value]) => ({ id, display: value, value })),
    mappings: Object.entries(sent).map(([site, [value_id, value]]) => ({
      id: `m-${site}`,
      external_site_id: site,
      field_name: "colour",
      values: [{ id: `e-${site}`, value_id, value }],
    })),
  };
}

export const SHOP = { name: "Shop", platform: "External" };
export const RED: Value = ["v1", "Red"];

/** A service whose items are all red, for which the shop gets `sent.external`. */
export async function redService(t: TestContext, items: number) {
  const service = await Scripted.start(t, itemsOf(items));
  const sent = { external: "rouge" };
  const answer = ({ kind }: Question) => {
    if (kind === "destinations")
      return { body: [{ id: "d1", identification: "Shop", platform: "External" }] };
    const field = colorField([RED], { d1: ["v1", sent.external] });
    return kind === "custom_fields" ? { body: [field] } : undefined;
  };
  service.arrange = colored(RED);
  service.script = answer;
  return { service, sent, answer };
}
