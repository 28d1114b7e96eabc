/** What runs the export every night: files for a scheduler, each with how it is installed. */
import { basename, dirname } from "node:path";
import { VERSION } from "../../common/version.ts";
import { NEW_CONFIG_FILE } from "../../config/config-text.ts";
import { afterExit } from "../../fleet/outcome.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { shellWord } from "../render/terminal.ts";

export const SCHEDULERS = ["cron", "systemd", "kubernetes"] as const;
export type Scheduler = (typeof SCHEDULERS)[number];

export interface NightlyRun {
  /** What starts the program, as absolute paths: a scheduler has no PATH to speak of. */
  readonly program: readonly string[];
  /** Absolute path of the configuration file. */
  readonly config: string;
  readonly user: string;
}

export interface NewFile {
  readonly name: string;
  readonly text: string;
}

const FILES: Readonly<Record<Scheduler, readonly [name: string, text: (run: NightlyRun) => string][]>> = {
  cron: [["content-warehouse.cron", cronText]],
  systemd: [
    ["content-warehouse.service", serviceText],
    ["content-warehouse.timer", timerText],
  ],
  kubernetes: [["content-warehouse.yaml", kubernetesText]],
};

export function scheduleFileNames(scheduler: Scheduler | null): string[] {
  return scheduler === null ? [] : FILES[scheduler].map(([name]) => name);
}

export function scheduleFiles(scheduler: Scheduler, run: NightlyRun): NewFile[] {
  return FILES[scheduler].map(([name, text]) => ({ name, text: text(run) }));
}

function argumentsOf({ program, config }: NightlyRun): readonly string[] {
  return [...program, "run", "nightly", "--config", config];
}

/** Seconds before the second and the third try; after that there is none. */
const PAUSES = [600, 1800, 0];

/** Exit codes after which a run is started again; the others are of signals. */
const REPEATED = codesWhere((code) => afterExit(code) === "retry" && code < 128);
/** After which it is not. */
const FINAL = codesWhere((code) => afterExit(code) !== "retry" && code !== 0);

function codesWhere(holds: (code: number) => boolean): readonly number[] {
  return EXIT_CODES.map(([code]) => code).filter(holds);
}

function cronText(run: NightlyRun): string {
  const command = argumentsOf(run).map(shellWord).join(" ").replaceAll("%", "\\%");
  const again = `case $code in ${REPEATED.join("|")}) sleep $pause ;; *) break ;; esac`;
  return `# Add it to your crontab: (crontab -l; cat content-warehouse.cron) | crontab -
# Up to three tries: what may pass (service, delivery, disk, another run) is tried again after 10 and 30 minutes.
0 2 * * *  for pause in ${PAUSES.join(" ")}; do ${command}; code=$?; ${again}; done; exit $code
`;
}

function serviceText(run: NightlyRun): string {
  return `# Install: sudo cp content-warehouse.service content-warehouse.timer /etc/systemd/system/
#          sudo systemctl enable --now content-warehouse.timer
# Start it now: sudo systemctl start content-warehouse; what it says: journalctl -u content-warehouse
[Unit]
Description=Export of the content service to the warehouse
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=12h
StartLimitBurst=4

[Service]
Type=oneshot
User=${run.user}
ExecStart=${argumentsOf(run).map(systemdWord).join(" ")}
# Tried again, up to three times: what may pass (${REPEATED.join(", ")}), and a run that was killed. Needs systemd 244.
Restart=on-failure
RestartSec=10min
RestartPreventExitStatus=${FINAL.join(" ")}
`;
}

/** In quotes where it needs them; `%` and `$` would be replaced. */
function systemdWord(text: string): string {
  const plain = text.replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@%$+=:,./-]+$/.test(plain) ? plain : `"${plain.replace(/["\\]/g, "\\$&")}"`;
}

function timerText(): string {
  return `[Unit]
Description=Export of the content service, every night at two

[Timer]
OnCalendar=*-*-* 02:00:00
# Makes up for a night when the machine was off.
Persistent=true

[Install]
WantedBy=timers.target
`;
}

/** The image is that of the package's Dockerfile: its entry is the program, and it runs as the user 1000. */
function kubernetesText({ config }: NightlyRun): string {
  const folder = basename(dirname(config));
  return `# Push the image of the Dockerfile to a registry of your own, and name it below. Then, in ${JSON.stringify(folder)}:
#   kubectl create configmap content-warehouse --from-file=${NEW_CONFIG_FILE}
#   kubectl create secret generic content-warehouse --from-file=token
#   kubectl apply -f content-warehouse.yaml
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: content-warehouse }
spec:
  accessModes: [ReadWriteOnce]
  resources: { requests: { storage: 20Gi } }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: content-warehouse }
spec:
  schedule: "0 2 * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      # What may pass (${REPEATED.join(", ")}) is tried again, and a run that was killed; an eviction is no failure.
      backoffLimit: 3
      podFailurePolicy:
        rules:
          - action: FailJob
            onExitCodes: { operator: In, values: [${FINAL.join(", ")}] }
          - action: Ignore
            onPodConditions: [{ type: DisruptionTarget, status: "True" }]
      template:
        spec:
          restartPolicy: Never
          securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 }
          containers:
            - name: export
              image: content-warehouse:${VERSION}
              args: [run, nightly, --config, /config/${NEW_CONFIG_FILE}]
              env:
                - name: CONTENT_API_TOKEN
                  valueFrom: { secretKeyRef: { name: content-warehouse, key: token } }
              volumeMounts:
                - { name: config, mountPath: /config, readOnly: true }
                - { name: warehouse, mountPath: /warehouse }
          volumes:
            - { name: config, configMap: { name: content-warehouse } }
            - { name: warehouse, persistentVolumeClaim: { claimName: content-warehouse } }
`;
}
