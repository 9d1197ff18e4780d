/**
 * Tells the fleet what the status files of this machine say, and what they cannot say themselves:
 * that their agent fell silent, or that its process is gone.
 *
 *   file ──▶ fresh ──silent too long──▶ stale ──written again──▶ fresh
 *              │                          │
 *              └── stopped, removed, its process gone ──▶ over
 *
 * Files are read when they change. All else is looked at every second or so, for ten thousand
 * agents at the cost of ten thousand cheap system calls: whether a process with that number is
 * there. That it is still the same process is proved by its start, when the file changes and now
 * and then.
 */
import type { Liveness, Report, Ruled } from "../../core/reports.ts";
import type { Clock } from "../../engine/clock.ts";
import { processes as systemProcesses, type Processes } from "../../fleet/processes.ts";
import { FRESHNESS } from "./limits.ts";
import { GONE, livenessOf } from "./liveness.ts";
import type { StatusFile } from "./read.ts";
import { aliasOf, reportOf } from "./report.ts";
import { watchStatusDir, type StatusChanges } from "./watch.ts";

export interface FileReporterOptions {
  readonly directory: string;
  readonly host: string;
  readonly report: (report: Report) => Promise<unknown>;
  /** What the fleet believes of files of this host; what it knows and is not there is over. */
  readonly known: () => Promise<readonly Report[]>;
  readonly clock: Clock;
  readonly staleAfterMs?: number;
  readonly processes?: Processes;
  readonly onTrouble?: (what: string, error: unknown) => void;
}

/** Together with the time to tell it, an end is known within two seconds. */
const LOOK_MS = 1_500;
/** Every so many looks it is asked whether a process is still the same. */
const PROOF_LOOKS = 20;
/** Reports become durable together; more than this would only wait in memory. */
const TOLD_AT_ONCE = 500;

interface Followed {
  file: StatusFile;
  /** What was made of it last. */
  liveness: Ruled<Liveness>;
  processStartedAtMs: number | undefined;
  /** When its task came into the state it is in, as far as was seen. */
  inState: { readonly key: string; readonly sinceMs: number };
  isUntold: boolean;
}

export class FileReporter {
  readonly #options: FileReporterOptions;
  readonly #processes: Processes;
  readonly #staleAfterMs: number;
  readonly #abort = new AbortController();
  readonly #byAlias = new Map<string, Followed>();
  readonly #aliasOf = new Map<string, string>();
  readonly #following: Promise<void>;
  #stopLooking: (() => void) | undefined;
  #looks = 0;

  constructor(options: FileReporterOptions) {
    this.#options = options;
    this.#processes = options.processes ?? systemProcesses;
    this.#staleAfterMs = options.staleAfterMs ?? FRESHNESS.staleAfterMs;
    this.#following = this.#follow();
    this.#lookLater();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    this.#stopLooking?.();
    await this.#following;
  }

  async #follow(): Promise<void> {
    let isFirst = true;
    try {
      for await (const changes of watchStatusDir(this.#options.directory, this.#abort)) {
        await this.#take(changes);
        if (isFirst) await this.#endUnknown();
        isFirst = false;
      }
    } catch (error) {
      this.#options.onTrouble?.("status files are not followed", error);
    }
  }

  /** What can no longer be read leaves what it said before; in time that is stale. */
  async #take({ read, removed }: StatusChanges): Promise<void> {
    const files = read.filter((reading) => reading.kind === "status");
    await Promise.all(removed.map((path) => this.#end(path)));
    for (let i = 0; i < files.length; i += TOLD_AT_ONCE) {
      await Promise.all(files.slice(i, i + TOLD_AT_ONCE).map((file) => this.#update(file)));
    }
  }

  async #update(file: StatusFile): Promise<void> {
    const alias = aliasOf(this.#options.host, file.status);
    const before = this.#byAlias.get(alias);
    if (before && file.updatedAtMs < before.file.updatedAtMs) return;
    const key = `${file.status.task?.id} ${file.status.task?.state} ${file.status.task?.summary}`;
    const inState =
      before?.inState.key === key ? before.inState : { key, sinceMs: file.updatedAtMs };
    const { pid } = file.status.runtime;
    const processStartedAtMs =
      pid === undefined || pid <= 0 ? undefined : this.#processes.startedAtMs(pid);
    const followed = { file, processStartedAtMs, inState, isUntold: true };
    const liveness = this.#livenessOf(followed, { isProof: true });
    this.#aliasOf.set(file.path, alias);
    this.#byAlias.set(alias, { ...followed, liveness });
    await this.#tell(alias);
  }

  async #end(path: string): Promise<void> {
    const alias = this.#aliasOf.get(path);
    if (alias === undefined) return;
    this.#aliasOf.delete(path);
    const followed = this.#byAlias.get(alias);
    if (followed?.file.path !== path) return;
    followed.liveness = GONE;
    followed.isUntold = true;
    await this.#tell(alias);
  }

  /** What the fleet knows from before, and whose file was removed while nobody looked. */
  async #endUnknown(): Promise<void> {
    const prefix = `file@${this.#options.host}:`;
    try {
      for (const report of await this.#options.known()) {
        const isOurs = report.alias.startsWith(prefix) && !this.#byAlias.has(report.alias);
        if (!isOurs || report.facts.liveness.value === "exited") continue;
        await this.#options.report({ ...report, facts: { ...report.facts, liveness: GONE } });
      }
    } catch (error) {
      this.#options.onTrouble?.("agents whose files are gone were not reported", error);
    }
  }

  #lookLater(): void {
    this.#stopLooking = this.#options.clock.after(LOOK_MS, () => {
      void this.#look().finally(() => {
        if (!this.#abort.signal.aborted) this.#lookLater();
      });
    });
  }

  async #look(): Promise<void> {
    this.#looks += 1;
    const isProof = this.#looks % PROOF_LOOKS === 0;
    for (const [alias, followed] of this.#byAlias) {
      if (followed.liveness.value !== "exited") {
        const liveness = this.#livenessOf(followed, { isProof });
        if (liveness.rule !== followed.liveness.rule) {
          followed.liveness = liveness;
          followed.isUntold = true;
        }
      }
      if (followed.isUntold) await this.#tell(alias);
    }
  }

  #livenessOf(
    { file, processStartedAtMs }: Pick<Followed, "file" | "processStartedAtMs">,
    { isProof }: { readonly isProof: boolean },
  ): Ruled<Liveness> {
    return livenessOf(file, {
      nowMs: this.#options.clock.wallMs(),
      staleAfterMs: this.#staleAfterMs,
      processes: this.#processes,
      processStartedAtMs,
      isProof,
    });
  }

  /** What cannot be told now is told at the next look. */
  async #tell(alias: string): Promise<void> {
    const followed = this.#byAlias.get(alias);
    if (!followed) return;
    const { file, liveness, processStartedAtMs, inState } = followed;
    const isOver = liveness === GONE;
    try {
      await this.#options.report(
        reportOf(file, {
          host: this.#options.host,
          liveness,
          ...(processStartedAtMs !== undefined && { processStartedAtMs }),
          inStateSinceMs: inState.sinceMs,
        }),
      );
      followed.isUntold = false;
      if (isOver && this.#byAlias.get(alias) === followed) this.#byAlias.delete(alias);
    } catch (error) {
      this.#options.onTrouble?.(`${alias} was not reported`, error);
    }
  }
}
