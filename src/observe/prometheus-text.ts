/** A file in Prometheus' text format, version 0.0.4, for the textfile collector of its node exporter. */
import { rename, rm, writeFile } from "node:fs/promises";

export const PREFIX = "content_warehouse";

type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

/** Lines of a metric, with labels that each of its samples has; none without samples. Nothing adds up: all are gauges. */
export function gaugesOf(all: Labels) {
  return (name: string, help: string, value: number | readonly Sample[]): string => {
    const samples: readonly Sample[] = typeof value === "number" ? [[{}, value]] : value;
    if (samples.length === 0) return "";
    const full = `${PREFIX}_${name}`;
    const lines = samples.map(([labels, each]) => `${full}${labelText({ ...all, ...labels })} ${each}\n`);
    return `# HELP ${full} ${help}\n# TYPE ${full} gauge\n${lines.join("")}`;
  };
}

export function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    const escaped = value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
    return `${name}="${escaped}"`;
  });
  return `{${pairs.join(",")}}`;
}

/** Whoever reads the file has the old text or the new one. Throws what the system says. */
export async function replaceMetrics(file: string, text: string): Promise<void> {
  await besideFile(file, async (written) => {
    await writeFile(written, text);
    await rename(written, file);
  });
}

/**
 * Makes a file beside, which does not end with `.prom`: the collector reads those that do. It must be able to read what
 * becomes of it. Whatever is left of it is gone afterwards.
 */
export async function besideFile(file: string, use: (written: string) => Promise<void>): Promise<void> {
  const written = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(written, "", { mode: 0o644 });
    await use(written);
  } finally {
    // A failure to tidy up does not hide why the file could not be written.
    await rm(written, { force: true }).catch(() => {});
  }
}
