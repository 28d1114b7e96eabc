/** Reads settings: checks the form of each, then what they mean together. */
import { DYNAMIC_COLUMN_NAMES, isDynamicColumn } from "../api/dynamic.ts";
import { apiFieldProblem } from "../api/fields.ts";
import { invalidConfig, type WarehouseError } from "../common/errors.ts";
import { nearestSentence } from "../common/nearest.ts";
import { parseForm } from "../common/parse-form.ts";
import { clauseOf, printable } from "../common/printable.ts";
import type { ProxyFor } from "../common/proxy.ts";
import { isLake } from "../targets/lake/lake.ts";
import { COMPARED, configSpec, type Settings } from "./config-spec.ts";

/** Placeholder in `metricsFile` for the name of the instance, if several instances share a configuration. */
const INSTANCE = "{instance}";

/**
 * Reads the settings of the file `name`. Throws `config.invalid` with all faults of form, or else all faults of meaning.
 * `instance`: name of the instance, if set. `proxiesBy`: makes the proxy resolver from the setting `proxy`.
 */
export function readSettings(
  name: string,
  value: unknown,
  instance: string | undefined,
  proxiesBy: (setting: string | undefined) => ProxyFor,
): Settings {
  const result = parseForm(configSpec, value);
  if ("faults" in result) throw faultsError(result.faults.map((fault) => `${name}: ${fault}.`));
  const settings = result.value;
  const { proxy, metricsFile } = settings;
  const faults = [
    ...columnFaults(settings),
    ...personalFieldFaults(settings),
    ...extraColumnFaults(settings),
    ...(metricsFile?.includes(INSTANCE) && instance === undefined
      ? [`\`metricsFile\`: set CONTENT_WAREHOUSE_INSTANCE, the name that \`${INSTANCE}\` stands for`]
      : []),
    ...nameFaults(settings.targets),
  ];
  const around = { instance, proxyFor: proxiesBy(proxy) };
  const targets = settings.targets.map((target, at) => {
    try {
      return isLake(target) ? target.withEnvironment(around) : target;
    } catch (thrown) {
      faults.push(`\`targets[${at}]\`: ${clauseOf(thrown)}`);
      return target;
    }
  });
  if (faults.length > 0) throw faultsError(faults.map((fault) => `${name}: ${fault}.`));
  return { ...settings, targets, metricsFile: metricsFile?.replaceAll(INSTANCE, instance ?? "") };
}

/** `config.invalid` with one sentence, or with a line for each of several. */
export function faultsError(sentences: readonly string[]): WarehouseError {
  const [first = "", second] = sentences;
  if (second === undefined) return invalidConfig(first);
  const lines = sentences.map((sentence) => `\n  ${sentence}`);
  return invalidConfig(`The configuration has ${sentences.length} faults:${lines.join("")}`);
}

function nameFaults(targets: Settings["targets"]): string[] {
  const names = targets.map(({ name }) => name);
  const twice = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  return [...twice].map(
    (name) => `\`targets\`: two have the name "${name}"; set a different \`name\` for each`,
  );
}

/** Fields that every run needs. Whether the other names exist is known once the service was asked. */
function personalFieldFaults({ personalFields, aliases }: Settings): string[] {
  return personalFields.flatMap((name, place) =>
    COMPARED.includes(aliases[name] ?? name)
      ? [
          `\`personalFields[${place}]\`: listings are compared by "${printable(name)}", which is not personal; leave it out`,
        ]
      : [],
  );
}

/** Fields that tables have columns for, which are never in `extra`, and repeated ones. */
function extraColumnFaults({ extraColumns, aliases }: Settings): string[] {
  return extraColumns.flatMap((name, place) => {
    const known = aliases[name] ?? name;
    const isKnown = ["dynamic", "full"].some((shape) => apiFieldProblem(`${shape}:${known}`) === null);
    if (!isKnown && extraColumns.indexOf(name) === place) return [];
    const why = isKnown ? "the specification has it, so a table has it already" : "it is named twice";
    return [`\`extraColumns[${place}]\`: leave out "${printable(name)}": ${why}`];
  });
}

/**
 * Unknown columns. Services ignore these, so a misspelled one would silently be missing from every item. A column that
 * only this service has is named in `aliases`, if necessary with its own name.
 */
function columnFaults({ columns = [], aliases }: Settings): string[] {
  const known = [...DYNAMIC_COLUMN_NAMES, ...Object.keys(aliases)];
  return columns.flatMap((name, place) => {
    if (isDynamicColumn(name) || Object.hasOwn(aliases, name)) return [];
    const shown = printable(name, 60);
    const near = nearestSentence(name, known, "");
    return [
      `\`columns[${place}]\`: there is no column "${shown}".${near} If the service has one, add it to \`aliases\`: { "${shown}": "${shown}" }`,
    ];
  });
}
