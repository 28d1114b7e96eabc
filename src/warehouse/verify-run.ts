/** Verifies published runs by their manifests. Needs no lock, and changes nothing. */
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { WarehouseError } from "../common/errors.ts";
import { joinWords } from "../common/nearest.ts";
import { currentRun, type OutputFolder } from "./layout.ts";
import type { PublishedFile } from "./manifest.ts";
import { findRun, listRuns, type PublishedRun } from "./retention.ts";
import { examine, findingsOf } from "./verify.ts";

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
 * database, and the rows of each table. Checks that `current` names a run. `wanted`: `undefined` for all runs. The
 * findings are sentences about the link and all runs; none if all is well. Throws `config.not_found` and
 * `config.newer_version`.
 */
export async function verifyRuns(
  folder: OutputFolder,
  wanted: string | undefined,
  temporaryDirectory: string,
) {
  const published = await listRuns(folder);
  const current = await currentRun(folder);
  const link = linkFinding(published, current);
  const runs: VerifiedRun[] = [];
  for (const each of await chooseRuns(folder, wanted, published, link)) {
    const verified = await verifyRun(each, published, temporaryDirectory);
    // A run that was pruned meanwhile is not damaged.
    if (verified.findings.length === 0 || existsSync(each.directory)) runs.push(verified);
    else if (wanted !== undefined) await findRun(folder, each.run);
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
  wanted: string | undefined,
  published: readonly PublishedRun[],
  link: string | undefined,
): Promise<readonly PublishedRun[]> {
  if (wanted === undefined && published.length > 0) return published;
  const run = wanted ?? "current";
  return link !== undefined && run === "current" ? [] : [await findRun(folder, run)];
}

/** Names the other runs that have the same file on the disk, as a clause: its damage is theirs too. */
function sharers(
  { run, directory }: PublishedRun,
  all: readonly PublishedRun[],
  file: PublishedFile,
): string {
  const inode = (folder: string, path: string) =>
    lstatSync(join(folder, path), { throwIfNoEntry: false })?.ino;
  const own = inode(directory, file.path);
  const others = all.filter((each) => {
    if (own === undefined || each.run === run || each.manifest instanceof WarehouseError) return false;
    const same = each.manifest.files.filter(({ sha256 }) => sha256 === file.sha256);
    return same.some(({ path }) => inode(each.directory, path) === own);
  });
  const names = others.map((each) => each.run);
  return names.length === 0 ? "" : `; the same file is in ${joinWords(names, "and")}`;
}

async function verifyRun(
  published: PublishedRun,
  all: readonly PublishedRun[],
  temporaryDirectory: string,
): Promise<VerifiedRun> {
  const { run, current, manifest } = published;
  const standing = { run, current };
  if (manifest instanceof WarehouseError) {
    if (manifest.code !== "verify.failed") throw manifest;
    return { ...standing, files: 0, bytes: 0, tables: 0, rows: 0, denied: 0, findings: [manifest.message] };
  }
  const examined = await examine({ result: published.directory, temporaryDirectory, stated: manifest });
  const { files, unread } = examined;
  const counts = Object.values(manifest.rows);
  return {
    ...standing,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    tables: counts.length,
    rows: counts.reduce((sum, rows) => sum + rows, 0),
    denied: unread.filter(({ denied }) => denied).length,
    findings: findingsOf(run, manifest, examined, (file) => sharers(published, all, file)).map(
      (finding) => `${finding.charAt(0).toUpperCase()}${finding.slice(1)}.`,
    ),
  };
}
