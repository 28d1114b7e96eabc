import { DYNAMIC_COLUMN_NAMES, isDynamicColumn } from "../api/dynamic.ts";
import { nearestSentence } from "../common/nearest.ts";
import type { ProxyFor } from "../common/network/proxy.ts";
import { parseForm } from "../common/parse-form.ts";
import { clauseOf, printable } from "../common/printable.ts";
import { metricsFileFaults } from "../observe/settings.ts";
import { isLake } from "../targets/lake/lake.ts";
import { COMPARED, configSpec, type Settings } from "./config-spec.ts";
import { allInvalid } from "./faults.ts";

/**
 * Reads settings; `name` is that of their file. Throws `config.invalid` with all that is wrong with their form, or else
 * with all that they mean together. `instance`: name of the instance, if there is one; `proxiesBy`: by the setting `proxy`.
 */
export function readSettings(
  name: string,
  value: unknown,
  instance: string | undefined,
  proxiesBy: (setting: string | undefined) => ProxyFor,
): Settings {
  const result = parseForm(configSpec, value);
  if ("faults" in result) throw allInvalid(result.faults.map((fault) => `${name}: ${fault}.`));
  const settings = result.value;
  const { proxy, metricsFile } = settings;
  const faults = [
    ...columnFaults(settings),
    ...personalFieldFaults(settings),
    ...metricsFileFaults(metricsFile, instance),
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
  if (faults.length > 0) throw allInvalid(faults.map((fault) => `${name}: ${fault}.`));
  return { ...settings, targets };
}

function nameFaults(targets: Settings["targets"]): string[] {
  const names = targets.map(({ name }) => name);
  const twice = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  return [...twice].map((name) => `\`targets\`: two are called "${name}"; give each a \`name\` of its own`);
}

/** A run cannot be without them. Whether there are the others is known when the service was asked. */
function personalFieldFaults({ personalFields, aliases }: Settings): string[] {
  return personalFields.flatMap((name, place) =>
    COMPARED.includes(aliases[name] ?? name)
      ? [
          `\`personalFields[${place}]\`: the listings are compared by "${printable(name)}", which says nothing of a person; leave it out`,
        ]
      : [],
  );
}

/**
 * Services ignore a column that they do not know, so a misspelled one would be missing from every item without a word.
 * A column that only this service has is named in `aliases`, if need be by its own name.
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
