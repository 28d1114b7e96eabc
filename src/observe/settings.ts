/** Settings for whoever observes a run. They decide nothing about its data. */
import { resolve } from "node:path";
import { z } from "zod";
import type { HttpProxy, ProxyFor } from "../common/network/proxy.ts";
import { Secret } from "../common/secret.ts";
import type { OnFinish } from "./outcome.ts";

/** No `z.custom`: that has no JSON Schema, and the settings have one. */
export const onFinish: z.ZodType<OnFinish, OnFinish> = z
  .any()
  .refine((value) => typeof value === "function")
  .meta({ expected: "a function, which a JSON file cannot have" });

const LINEAGE_ADDRESS = "such as http://marquez.example.com:5000";
const text = z.string().min(1);

/** Stands for the name of the instance in what instances that share a configuration must not share. */
const INSTANCE = "{instance}";

export const openLineage = z
  .strictObject({
    url: text.meta({ expected: `an address ${LINEAGE_ADDRESS}` }).optional(),
    file: text.meta({ expected: "the path of a file" }).optional(),
    namespace: text.meta({ expected: "the namespace of the job" }).default("content-warehouse"),
  })
  .meta({
    expected: 'an object such as { url: "http://marquez.example.com:5000" } or { file: "lineage.ndjson" }',
  });

export interface OpenLineageSettings {
  readonly to: HttpEndpoint | { readonly file: string };
  /** Of the job. */
  readonly namespace: string;
}

export interface HttpEndpoint {
  readonly url: URL;
  readonly apiKey: Secret | null;
  readonly proxy: HttpProxy | null;
}

export interface ObserveSettings {
  readonly onFinish: OnFinish | null;
  /** Absolute path. */
  readonly metricsFile: string | null;
  readonly openLineage: OpenLineageSettings | null;
}

/** Where a client of OpenLineage posts to, unless the address names a path. */
const ENDPOINT = "/api/v1/lineage";

/** The address that events are posted to, or what is wrong with it; it may hold a password, so it is not shown. */
function lineageUrl(text: string): URL | string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return `expected an address ${LINEAGE_ADDRESS}`;
  if (url.username !== "" || url.password !== "") {
    return `expected an address without a user name or password, ${LINEAGE_ADDRESS}; set OPENLINEAGE_API_KEY instead`;
  }
  if (url.pathname === "/") url.pathname = ENDPOINT;
  return url;
}

/** Which instance of a fleet is meant: undefined where there is none. */
export interface MeantInstance {
  readonly name: string | undefined;
  /** Whether others of the fleet have the same configuration. */
  readonly isOfMany: boolean;
  /** Whether that is a module, which can have put the name in itself. */
  readonly isModule: boolean;
}

type Observing = Partial<Pick<Given, "metricsFile" | "openLineage">>;

/** A sentence for each setting that does not tell the instances of a fleet apart, or names an instance that is not known. */
export function instanceProblems(
  { metricsFile, openLineage }: Observing,
  { name, isOfMany, isModule }: MeantInstance,
): string[] {
  const settings = Object.entries({
    metricsFile,
    "openLineage.file": openLineage?.file,
    "openLineage.namespace": openLineage?.namespace,
  });
  return settings.flatMap(([setting, text]) => {
    if (text === undefined) return [];
    if (text.includes(INSTANCE))
      return name === undefined
        ? [
            `\`${setting}\`: \`${INSTANCE}\` stands for the name of an instance, and none is named; set CONTENT_WAREHOUSE_INSTANCE.`,
          ]
        : [];
    if (!isOfMany || name === undefined || (isModule && hasWord(text, name))) return [];
    return [
      `\`${setting}\`: several instances of the fleet would have the same; put \`${INSTANCE}\` where the name of each is to stand.`,
    ];
  });
}

/** `word`: lower-case letters, digits and hyphens. As a part of a longer word it stands there by chance. */
function hasWord(text: string, word: string): boolean {
  return new RegExp(`(^|[^a-z0-9])${word}([^a-z0-9]|$)`).test(text);
}

interface Given {
  readonly onFinish: OnFinish | undefined;
  readonly metricsFile: string | undefined;
  readonly openLineage: z.output<typeof openLineage> | undefined;
  /** Takes the place of `{instance}`. */
  readonly instance: string | undefined;
  readonly proxyFor: ProxyFor;
  /** Paths go from here. */
  readonly folder: string;
  /** Has `OPENLINEAGE_API_KEY`, where there is one. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Of settings without problems. */
export function observeSettings(given: Given): ObserveSettings {
  const { onFinish, metricsFile, openLineage, folder } = given;
  return {
    onFinish: onFinish ?? null,
    metricsFile: metricsFile === undefined ? null : resolve(folder, ofInstance(metricsFile, given)),
    openLineage: openLineage === undefined ? null : lineageSettings(openLineage, given),
  };
}

function ofInstance(text: string, { instance }: Pick<Given, "instance">): string {
  return text.replaceAll(INSTANCE, instance ?? "");
}

function lineageSettings(
  { url: text = "", file, namespace: named }: z.output<typeof openLineage>,
  given: Given,
): OpenLineageSettings {
  const { folder, env, proxyFor } = given;
  const { OPENLINEAGE_API_KEY: key = "" } = env;
  const namespace = ofInstance(named, given);
  if (file !== undefined) return { to: { file: resolve(folder, ofInstance(file, given)) }, namespace };
  const url = lineageUrl(text);
  if (typeof url === "string") throw new TypeError(url);
  // A proxy is for tunnels alone, so that it never reads the key.
  const proxy = url.protocol === "https:" ? proxyFor(url) : null;
  return { to: { url, apiKey: key === "" ? null : new Secret(key), proxy }, namespace };
}

/** One sentence for what the form alone cannot say. */
export function openLineageProblems(spec: z.output<typeof openLineage> | undefined): string[] {
  if (spec === undefined) return [];
  const { url, file } = spec;
  if ((url === undefined) === (file === undefined)) {
    return ["`openLineage`: expected either `url` or `file`."];
  }
  const read = url && lineageUrl(url);
  return typeof read === "string" ? [`\`openLineage.url\`: ${read}.`] : [];
}
