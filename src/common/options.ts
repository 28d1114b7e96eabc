/** Options of a factory, as a module in plain JavaScript may give them. */
import { hint } from "./nearest.ts";
import { isObject } from "./objects.ts";

/** By option: true, or what is wrong with its value. */
export type Options = Readonly<Record<string, (value: unknown) => true | string>>;

/** One phrase for each fault: options that there are not, that are `required` and not given, and bad values. */
export function optionFaults(
  factory: string,
  given: unknown,
  options: Options,
  required: readonly string[] = [],
): string[] {
  if (!isObject(given)) return [`${factory} takes an object`];
  const strange = Object.entries(given).flatMap(([name, value]) => {
    const check = Object.hasOwn(options, name) ? options[name] : undefined;
    if (check === undefined)
      return [`${factory} has no option ${JSON.stringify(name)}${hint(name, Object.keys(options))}`];
    const verdict = value === undefined || check(value);
    return verdict === true ? [] : [`${factory}: ${name} ${verdict}`];
  });
  const missing = required.filter((name) => given[name] === undefined);
  return [...strange, ...missing.map((name) => `${factory}: ${name} is missing`)];
}

/** An option that takes a list whose elements are all as they should be. */
export function isListOf(what: string, fits: (element: unknown) => boolean): Options[string] {
  return (value) => isArrayOf(value, fits) || `is not a list of ${what}`;
}

/** Whether all elements fit. A hole is an element that is undefined, which `every` would not see. */
export function isArrayOf<Element>(
  value: unknown,
  fits: (element: unknown) => element is Element,
): value is Element[];
export function isArrayOf(value: unknown, fits: (element: unknown) => boolean): boolean;
export function isArrayOf(value: unknown, fits: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && Array.from(value).every(fits);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Of a target or an instance: also part of paths in a lake. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** An option that takes the name of a target or of an instance. */
export const isName: Options[string] = (value) =>
  (isText(value) && NAME.test(value)) ||
  "is not a name of lower-case letters, digits and hyphens, 63 at most";
