/** What runs the export every night: files for a scheduler, each with how it is installed. */
import { basename, dirname } from "node:path";
import { VERSION } from "../../common/version.ts";
import { NEW_CONFIG_FILE } from "../../config/config-text.ts";
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

function cronText(run: NightlyRun): string {
  const command = argumentsOf(run).map(shellWord).join(" ").replaceAll("%", "\\%");
  return `# Add it to your crontab: (crontab -l; cat content-warehouse.cron) | crontab -
0 2 * * *  ${command}
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

[Service]
Type=oneshot
User=${run.user}
ExecStart=${argumentsOf(run).map(systemdWord).join(" ")}
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
      backoffLimit: 0
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
