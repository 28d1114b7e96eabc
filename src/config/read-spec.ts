import { DYNAMIC_COLUMN_NAMES, isDynamicColumn } from "../api/dynamic.ts";
import { suggestion } from "../common/nearest.ts";
import { PROXY_ADDRESS, type ProxyFor, readProxy } from "../common/network/proxy.ts";
import { printable } from "../common/printable.ts";
import { readServiceUrl } from "../extract/http/service-url.ts";
import { metricsFileProblems } from "../observe/settings.ts";
import { configSpec, fileSpec, type Settings } from "./config-spec.ts";
import { formFaults, type Path, valueAt } from "./form-faults.ts";
import { targetProblems, targetsOf } from "./target-spec.ts";

/** Reads settings, and says what is wrong with them. */

/** The settings, or one sentence for each that is wrong: its name, what was expected, what was found. */
export type ConfigSpecResult = { readonly settings: Settings } | { readonly problems: readonly string[] };

/** `instance`: name of the instance, if there is one. `proxiesBy`: by the setting `proxy`. */
export function readConfigSpec(
  value: unknown,
  instance?: string,
  proxiesBy: (setting: string | undefined) => ProxyFor = () => () => null,
): ConfigSpecResult {
  const result = configSpec.safeParse(value);
  const { issues = [] } = result.error ?? {};
  const given = wellFormed(value);
  const { url, proxy, columns, aliases, personalFields, targets, metricsFile } = given;
  const around = { instance, proxyFor: proxiesBy(proxy) };
  const problems = [
    ...formFaults({ declared: fileSpec, value, issues, credentials }),
    ...urlProblems(url),
    ...proxyProblems(proxy),
    ...aliasProblems(aliases ?? {}),
    // Without the aliases nobody can tell which columns there are.
    ...(aliases === undefined ? [] : columnProblems(columns ?? [], aliases)),
    ...personalFieldProblems(personalFields ?? [], aliases ?? {}),
    ...targetProblems(targetsOf(targets ?? [], around)),
    ...metricsFileProblems(metricsFile, instance),
  ];
  if (!result.success || problems.length > 0) return { problems };
  return { settings: { ...result.data, targets: targetsOf(result.data.targets, around) } };
}

/** Those of the settings that have their form, whatever the others are. */
function wellFormed(value: unknown): Partial<Settings> {
  const settings = Object.entries(configSpec.shape).map(([name, setting]) => [
    name,
    setting.safeParse(valueAt(value, [name])).data,
  ]);
  return Object.fromEntries(settings);
}

function urlProblems(url: string | undefined): string[] {
  if (url === undefined) return [];
  const result = readServiceUrl(url);
  return "problem" in result ? [`\`url\`: ${result.problem}.`] : [];
}

function proxyProblems(proxy: string | undefined): string[] {
  if (proxy === undefined || readProxy(proxy, "") !== null) return [];
  return [`\`proxy\`: expected ${PROXY_ADDRESS}, found something else.`];
}

/** What the listings are compared by has no other name: passes read it where aliases are not looked at. */
const COMPARED = ["id", "updated_at"];

function aliasProblems(aliases: Readonly<Record<string, string>>): string[] {
  const names = Object.values(aliases);
  const compared = COMPARED.filter((name) => names.includes(name) && aliases[name] !== name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...compared.map(
      (name) =>
        `\`aliases\`: no other name may stand for "${name}", which the listings are compared by; leave it out.`,
    ),
    ...twice.map(
      (name) =>
        `\`aliases\`: expected each name of the specification once, found "${printable(name)}" twice.`,
    ),
  ];
}

/** A run cannot be without them. Whether there are the others is known when the service was asked. */
function personalFieldProblems(
  names: readonly string[],
  aliases: Readonly<Record<string, string>>,
): string[] {
  return names.flatMap((name, place) =>
    COMPARED.includes(aliases[name] ?? name)
      ? [
          `\`personalFields[${place}]\`: the listings are compared by "${printable(name)}", which says nothing of a person; leave it out.`,
        ]
      : [],
  );
}

/**
 * Services ignore a column that they do not know, so a misspelled one would be missing from every item without a word.
 * A column that only this service has is named in `aliases`, if need be by its own name.
 */
function columnProblems(columns: readonly string[], aliases: Readonly<Record<string, string>>): string[] {
  const isKnown = (name: string) => isDynamicColumn(name) || Object.hasOwn(aliases, name);
  const known = [...DYNAMIC_COLUMN_NAMES, ...Object.keys(aliases)];
  return columns.flatMap((name, place) => {
    if (isKnown(name)) return [];
    const shown = printable(name, 60);
    const near = suggestion(name, known, "");
    return [
      `\`columns[${place}]\`: there is no column "${shown}".${near} If the service has one, add it to \`aliases\`: { "${shown}": "${shown}" }.`,
    ];
  });
}

/** How a credential comes to the run, in place of a configuration file. */
function credentials([setting]: Path): string {
  return setting === "targets"
    ? "credentials do not belong in a configuration file; they come from the environment, or from files of their own"
    : "a token does not belong in a configuration file; set CONTENT_API_TOKEN, or `tokenFile` to a file that only you can read";
}
