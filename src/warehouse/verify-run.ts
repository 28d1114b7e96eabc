/** Verifies published runs by their manifests. Needs no lock, and changes nothing. */
import { existsSync } from "node:fs";
import { WarehouseError } from "../common/errors.ts";
import { currentRun, nameOf, type OutputFolder } from "./layout.ts";
import type { Manifest, PublishedFile } from "./manifest.ts";
import { findRun, listRuns, type PublishedRun } from "./retention.ts";
import { type Examination, examine, isUnreadable, unreadablePath } from "./verify.ts";

export type VerifyScope = { readonly all: true } | { readonly run: string };

export interface VerifyResult {
  /** Run that `current` names; `undefined` if there is no link. */
  readonly current: string | undefined;
  readonly runs: readonly VerifiedRun[];
  /** Sentences about the link and all runs; empty if all is well. */
  readonly findings: readonly string[];
}

export interface VerifiedRun {
  readonly run: string;
  readonly current: boolean;
  /** Number of files, without the manifest. */
  readonly files: number;
  readonly bytes: number;
  /** Tables and rows that the manifest states. They are verified if there are no findings. */
  readonly tables: number;
  readonly rows: number;
  /** Number of findings about paths that this user may not read. */
  readonly denied: number;
  /** Sentences; empty if the run is as published. */
  readonly findings: readonly string[];
}

/**
 * Compares runs with their manifests: size and SHA-256 of each file, missing and unknown files, a log beside the
 * database, and the rows of each table. Checks that `current` names a run. Throws `config.not_found` and
 * `config.newer_version`.
 */
export async function verifyRuns(
  folder: OutputFolder,
  wanted: VerifyScope,
  temporaryDirectory: string,
): Promise<VerifyResult> {
  const published = await listRuns(folder);
  const current = await currentRun(folder);
  const link = linkFinding(published, current);
  const runs: VerifiedRun[] = [];
  for (const each of await chooseRuns(folder, wanted, published, link)) {
    const verified = await verifyRun(each, temporaryDirectory);
    // A run that was pruned meanwhile is not damaged.
    if (verified.findings.length === 0 || existsSync(each.directory)) runs.push(verified);
    else if ("run" in wanted) await findRun(folder, each.run);
  }
  const findings = [...(link === undefined ? [] : [link]), ...runs.flatMap((each) => each.findings)];
  return { current, runs, findings };
}

function linkFinding(published: readonly PublishedRun[], current: string | undefined): string | undefined {
  if (published.some((each) => each.current)) return undefined;
  if (current !== undefined) return `"current" names the run ${current}, which is not there.`;
  return published.length === 0 ? undefined : `No run is current, though ${published[0]?.run} was published.`;
}

async function chooseRuns(
  folder: OutputFolder,
  wanted: VerifyScope,
  published: readonly PublishedRun[],
  link: string | undefined,
): Promise<readonly PublishedRun[]> {
  if ("all" in wanted && published.length > 0) return published;
  const run = "run" in wanted ? wanted.run : "current";
  return link !== undefined && run === "current" ? [] : [await findRun(folder, run)];
}

async function verifyRun(published: PublishedRun, temporaryDirectory: string): Promise<VerifiedRun> {
  const { run, current, manifest } = published;
  const standing = { run, current };
  if (manifest instanceof WarehouseError) {
    if (manifest.code !== "verify.failed") throw manifest;
    return { ...standing, files: 0, bytes: 0, tables: 0, rows: 0, denied: 0, findings: [manifest.message] };
  }
  const examining = examine({ result: published.directory, temporaryDirectory, stated: manifest });
  // A run that cannot be examined at all has that as its finding.
  const examined = await examining.catch((thrown: unknown): Examination => {
    return { files: [], unread: [unreadablePath("", thrown)], findings: [] };
  });
  const { files, unread } = examined;
  const counts = Object.values(manifest.rows);
  return {
    ...standing,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    tables: counts.length,
    rows: counts.reduce((sum, rows) => sum + rows, 0),
    denied: unread.filter(({ denied }) => denied).length,
    findings: findingsOf(run, manifest, examined).map(
      (finding) => `${finding.charAt(0).toUpperCase()}${finding.slice(1)}.`,
    ),
  };
}

/** Differences between an examined run and its manifest, as phrases without a full stop. */
export function findingsOf(
  run: string,
  manifest: Manifest,
  { files, unread, findings }: Examination,
): string[] {
  const there = new Map(files.map((file) => [file.path, file]));
  const known = new Set(manifest.files.map(({ path }) => path));
  const looked = manifest.files.filter(({ path }) => !isUnreadable(unread, path));
  const more = files.filter(({ path }) => !known.has(path));
  return [
    ...(manifest.run === nameOf(run) ? [] : [`its manifest is that of the run ${manifest.run}`]),
    ...unread.map(({ finding }) => finding),
    ...looked.flatMap((file) => fileFinding(there.get(file.path), file) ?? []),
    ...more.map(({ path }) => `the file ${path} is not in the manifest`),
    ...findings,
  ];
}

function fileFinding(found: PublishedFile | undefined, stated: PublishedFile): string | undefined {
  const { path, bytes, sha256, rows } = stated;
  if (found === undefined) return `the file ${path} is missing`;
  if (found.bytes !== bytes) return `the file ${path} has ${found.bytes} bytes instead of ${bytes}`;
  if (found.sha256 !== sha256) return `the file ${path} has different content: its SHA-256 differs`;
  if (found.rows !== rows) return `the file ${path} has ${found.rows} rows instead of ${rows}`;
  return undefined;
}
