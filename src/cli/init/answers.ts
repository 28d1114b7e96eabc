/** What a configuration needs to know: from options, else from a person, else the default. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { printable } from "../../common/printable.ts";
import { Secret } from "../../common/secret.ts";
import { readTokenFile } from "../../config/config-file.ts";
import { checkedToken } from "../../config/service-source.ts";
import { readServiceUrl } from "../../extract/http/service-url.ts";
import { type Destinations, destinationIn, invalid, NO_DESTINATION } from "../command.ts";
import type { Prompt } from "./prompt.ts";

export interface InitFlags {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly destination?: Destinations;
  readonly warehouse?: string;
  readonly yes?: true;
  readonly add?: true;
}

export interface Asking {
  readonly flags: InitFlags;
  /** From the option, else from the variable. */
  readonly url: string | undefined;
  /** From the variable. */
  readonly token: string | undefined;
  /** Absolute. */
  readonly cwd: string;
  /** Null: there is nobody to ask. */
  readonly prompt: Prompt | null;
}

/** Throws `config.invalid`, naming the options that are missing where nobody can be asked. */
export function assertAnswerable({ flags, url, token, prompt }: Asking): void {
  const missing = [
    url === undefined && "--url (or CONTENT_API_URL)",
    flags.tokenFile === undefined && token === undefined && "--token-file (or CONTENT_API_TOKEN)",
  ].filter((option) => option !== false);
  if (prompt !== null || missing.length === 0) return;
  throw invalid(`Nothing can be asked without a terminal or with --yes: give ${missing.join(" and ")}.`);
}

/** Address of the service, as it goes into the file. */
export async function askUrl({ flags, url, prompt }: Asking): Promise<string> {
  if (flags.url !== undefined || prompt === null) return checkedUrl(url ?? "", "--url");
  return prompt.ask("Address of the service", url ?? null, (text) => checkedUrl(text, "The address"));
}

function checkedUrl(text: string, place: string): string {
  const result = readServiceUrl(text);
  if ("url" in result) return result.url.origin + result.url.prefix;
  throw invalid(`${place}: ${result.problem}.`);
}

export interface TokenAnswer {
  readonly token: Secret;
  /** As it goes into the configuration; null: the token comes from CONTENT_API_TOKEN. */
  readonly file: string | null;
  /** Whether the file is still to be written. */
  readonly isNew: boolean;
}

export async function askToken(asking: Asking): Promise<TokenAnswer> {
  const { flags, token, prompt } = asking;
  if (flags.tokenFile !== undefined) return tokenIn(flags.tokenFile, asking);
  if (prompt === null) return { token: fromVariable(token ?? ""), file: null, isNew: false };
  return prompt.ask("File with the API token, made if there is none", "./token", (text) =>
    tokenIn(text.replace(/^~(?=\/)/, homedir()), asking),
  );
}

/** The token in a file, or the one that is to be written to it. */
async function tokenIn(file: string, { cwd, token: given, prompt }: Asking): Promise<TokenAnswer> {
  const path = resolve(cwd, file);
  if (existsSync(path)) {
    const token = checkedToken(await readTokenFile(path, "The token file"), printable(path));
    return { token, file, isNew: false };
  }
  if (given !== undefined) return { token: fromVariable(given), file, isNew: true };
  if (prompt === null) {
    const wayOut = "write the token into it, or set CONTENT_API_TOKEN, which is then written to it";
    throw invalid(`--token-file: there is no file ${printable(path)}; ${wayOut}.`);
  }
  const read = (text: string) => checkedToken(new Secret(text), "The answer");
  const token = await prompt.ask("API token (it is not shown)", null, read, true);
  return { token, file, isNew: true };
}

function fromVariable(text: string): Secret {
  return checkedToken(new Secret(text), "CONTENT_API_TOKEN");
}

/** What the service says of destinations. */
export interface AskedService {
  /** Throws where it does not have one of them. */
  look(wanted: Destinations): Promise<void>;
  /** A sentence with those that its items name, as far as they can be found. */
  there(): Promise<string>;
}

/** Asks for destinations one by one until there is no further one. */
export async function askDestinations(
  { flags, prompt }: Asking,
  { look, there }: AskedService,
): Promise<Destinations> {
  if (flags.destination !== undefined || prompt === null) {
    const given = flags.destination ?? [];
    await look(given);
    return given;
  }
  prompt.say(
    `Destinations whose external values you want, as NAME or NAME:PLATFORM ("External" unless given). ${await there()}`,
  );
  const found: Destinations[number][] = [];
  for (;;) {
    const next = await prompt.ask("Destination (Enter: no more)", "", async (text) => {
      if (text === "") return null;
      const destination = destinationIn(text);
      if (destination === null) throw invalid(NO_DESTINATION);
      await look([destination]);
      return destination;
    });
    if (next === null) return found;
    found.push(next);
  }
}

export async function askWarehouse({ flags, prompt }: Asking): Promise<string> {
  if (flags.warehouse !== undefined || prompt === null) return flags.warehouse ?? "./warehouse";
  return prompt.ask("Folder of the warehouse", "./warehouse", (text) => text.replace(/^~(?=\/)/, homedir()));
}
