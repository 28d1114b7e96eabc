/**
 * The eight rules once more, from a service's HTTP answers alone: nothing here is imported from the program, so that
 * what it explains is held against something else than itself.
 */

interface SelectValue {
  readonly id: string;
  readonly display: string | null;
  readonly value: string | null;
}

interface Definition {
  readonly id: string;
  readonly name: string;
  readonly field_type: string;
  readonly formatted_select_values?: readonly SelectValue[] | null;
  readonly mappings: readonly {
    readonly id: string;
    readonly field_name: string;
    readonly external_site_id: string;
    readonly values: readonly { readonly id: string; readonly value_id: string; readonly value: string }[];
  }[];
}

export interface Answers {
  readonly destinations: readonly { readonly id: string; readonly identification: string }[];
  readonly definitions: readonly Definition[];
  readonly items: readonly {
    readonly id: string;
    readonly custom_fields?: Readonly<Record<string, unknown>> | null;
    readonly custom_field_value_ids?: Readonly<Record<string, unknown>> | null;
  }[];
}

interface Page<T> {
  readonly response: T[];
  readonly pagination: { readonly next: number | null };
}

/** Asks with `fetch` for what the rules need: no code of the client. */
export async function askService(
  url: string,
  token: string,
  destinationNames: readonly { readonly name: string; readonly platform: string }[],
): Promise<Answers> {
  const headers = { authorization: `Basic ${btoa(`${token}:x`)}` };
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const listing = async <T>(view: string): Promise<T[]> => {
    const items: T[] = [];
    for (let page: number | null = 1; page !== null; ) {
      const answer: Page<T> = await ask(`/content?${view}&per_page=100&page=${page}`);
      items.push(...answer.response);
      page = answer.pagination.next;
    }
    return items;
  };
  const destinations: Answers["destinations"][number][] = [];
  for (const { name, platform } of destinationNames) {
    destinations.push(
      ...(await ask<Answers["destinations"]>(`/destinations?${new URLSearchParams({ name, platform })}`)),
    );
  }
  const full = await listing<{ custom_fields?: { name: string }[] }>("detail=full");
  const names = new Set<string>();
  for (const item of full) for (const field of item.custom_fields ?? []) names.add(field.name);
  const query = [...names].map((name) => `name[]=${encodeURIComponent(name)}`).join("&");
  return {
    destinations,
    definitions: await ask(`/custom_fields_reference?${query}`),
    items: await listing("columns[]=custom_fields&columns[]=custom_field_value_ids"),
  };
}

/** One thing that an explanation states. */
export type Statement = string;

/** What the rules say of an item, statement by statement. */
export function statementsOf(
  item: Answers["items"][number],
  { destinations, definitions }: Answers,
): Statement[] {
  const statements: Statement[] = [];
  const sites = new Set(
    definitions.flatMap(({ mappings }) => mappings.map((mapping) => mapping.external_site_id)),
  );
  for (const { id } of destinations) sites.add(id);
  for (const site of [...sites].sort()) {
    const payload: Record<string, string[]> = {};
    for (const field of definitions.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      const mapping = field.mappings.find((each) => each.external_site_id === site);
      if (mapping === undefined) continue;
      const sent = item.custom_fields?.[field.id] ?? [];
      const ids = item.custom_field_value_ids?.[field.id] ?? [];
      const idList = Array.isArray(ids) ? ids : [ids];
      (Array.isArray(sent) ? sent : [sent]).forEach((element, ordinal) => {
        if (element === null) return;
        const input = typeof element === "string" ? element : JSON.stringify(element);
        const outcome = outcomeOf(field, mapping, input, idList[ordinal]);
        statements.push(
          [site, field.id, mapping.id, mapping.field_name, ordinal, input, ...outcome].join(" | "),
        );
        if (outcome[0] !== "mapped") return;
        const list = payload[mapping.field_name] ?? [];
        payload[mapping.field_name] = [...list, outcome[2]];
      });
    }
    for (const name of Object.keys(payload).sort())
      statements.push(`${site} | ${name} = ${JSON.stringify(payload[name])}`);
  }
  return statements;
}

type Outcome =
  | readonly ["mapped", entry: string, externalValue: string]
  | readonly ["unmapped" | "unknown_value" | "no_value_mapping"];

function outcomeOf(
  field: Definition,
  mapping: Definition["mappings"][number],
  input: string,
  idThere: unknown,
): Outcome {
  if (field.field_type !== "select" && field.field_type !== "multiselect") return ["no_value_mapping"];
  const offered = field.formatted_select_values ?? [];
  const isId =
    input === idThere ||
    offered.some(({ id }) => id === input) ||
    field.mappings.some(({ values }) => values.some(({ value_id }) => value_id === input));
  const meant = isId
    ? input
    : (offered.find(({ value }) => value === input) ?? offered.find(({ display }) => display === input))?.id;
  if (meant === undefined) return ["unknown_value"];
  const entry = mapping.values.find(({ value_id }) => value_id === meant);
  if (entry !== undefined) return ["mapped", entry.id, entry.value];
  return offered.some(({ id }) => id === meant) ? ["unmapped"] : ["unknown_value"];
}
