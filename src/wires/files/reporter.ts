/**
 * Tells the fleet what the status files of this machine say, and what they cannot say themselves:
 * that their agent fell silent, or that its process is gone.
 *
 *   file ──▶ fresh ──silent too long──▶ stale ──written again──▶ fresh
 *              │                          │
 *              └── stopped, removed, its process gone ──▶ over
 *
 * Files are read when they change. All else is looked at every second or so. That a process is
 * still there, and still the same, is proved by its number and its start. With very many agents
 * that takes turns, and in between a cheap signal must do, which a dead one that nobody buried or
 * another with its number would answer as well.
 */
import type { Liveness, Report, Ruled } from "../../core/reports.ts";
import type { Clock } from "../../engine/clock.ts";
import { findProcess, startedAtMs, type ProcessProof } from "../../machine/processes.ts";
import type { Status } from "./format.ts";
import { FRESHNESS } from "./limits.ts";
import type { StatusFile } from "./read.ts";
import { aliasOf, recordOf, reportOf } from "./report.ts";
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
/** How many processes are proved to be the same in one look: a few milliseconds. */
const PROOFS_PER_LOOK = 200;
/** Reports become durable together; more than this would only wait in memory. */
const TOLD_AT_ONCE = 500;
/** Both the start of a process and the time of a file are told in whole seconds. */
const SAME_START_MS = 2_000;

/** Of this machine; a test has its own. */
export interface Processes {
  /** May be wrong about one that is dead, and never about one that lives. */
  mayBeThere(pid: number): boolean;
  find(pid: number): Found | undefined;
}

interface Found extends ProcessProof {
  /** Where the system tells. */
  readonly startedAtMs: number | undefined;
}

const PROCESSES: Processes = {
  find(pid) {
    const found = findProcess(pid);
    return found && { ...found, startedAtMs: startedAtMs(found) };
  },
  mayBeThere(pid) {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      // Somebody else's: there, but not ours to signal.
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
  },
};

interface Followed {
  file: StatusFile;
  /** What was made of it last. */
  liveness: Ruled<Liveness>;
  /** The process that wrote it, as its file says or as it was first seen. */
  process: ProcessProof | undefined;
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
    this.#processes = options.processes ?? PROCESSES;
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
    const { pid = 0 } = file.status.runtime;
    const found = pid > 0 ? this.#processes.find(pid) : undefined;
    const process = writerOf(file.status) ?? found;
    const processStartedAtMs = found?.startedAtMs;
    const followed = { file, process, processStartedAtMs, inState, isUntold: true };
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
    const turns = Math.ceil(this.#byAlias.size / PROOFS_PER_LOOK);
    let place = this.#looks;
    for (const [alias, followed] of this.#byAlias) {
      place += 1;
      const isProof = place % turns === 0;
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
    { file, process }: Pick<Followed, "file" | "process">,
    { isProof }: { readonly isProof: boolean },
  ): Ruled<Liveness> {
    const { lifecycle, pid = 0 } = file.status.runtime;
    if (lifecycle === "stopped") return STOPPED;
    const isThere = pid > 0 && this.#isThere(pid, isProof);
    if (pid > 0 && !isThere) return { value: "exited", rule: `process ${pid} is gone` };
    if (isProof && isThere && this.#isAnother(pid, file, process)) {
      return { value: "exited", rule: `process ${pid} is another one now` };
    }
    const isStale = this.#options.clock.wallMs() - file.updatedAtMs > this.#staleAfterMs;
    if (isStale) return isThere ? QUIET : STALE;
    return lifecycle === "running" ? FRESH : UNKNOWN;
  }

  #isThere(pid: number, isProof: boolean): boolean {
    return isProof ? this.#processes.find(pid) !== undefined : this.#processes.mayBeThere(pid);
  }

  /** It is not the one that wrote the file, or it began only after that. */
  #isAnother(pid: number, file: StatusFile, writer: ProcessProof | undefined): boolean {
    const found = this.#processes.find(pid);
    if (!found || !writer) return false;
    const isLater = (found.startedAtMs ?? 0) > file.updatedAtMs + SAME_START_MS;
    return found.start !== writer.start || isLater;
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

/** What our own emitters say of the process that they speak for. */
function writerOf({ runtime, x_meta }: Status): ProcessProof | undefined {
  const said = recordOf(recordOf(x_meta?.["rollcall"])["process"]);
  const { pid, start } = said;
  if (typeof start !== "string" || pid !== runtime.pid || runtime.pid === undefined)
    return undefined;
  return { pid: runtime.pid, start };
}

const FRESH: Ruled<Liveness> = { value: "alive", rule: "its file is fresh" };
const QUIET: Ruled<Liveness> = {
  value: "alive",
  rule: "its file is old, but its process is there",
};
const STALE: Ruled<Liveness> = { value: "stale", rule: "its file is old" };
const STOPPED: Ruled<Liveness> = { value: "exited", rule: "it says that it stopped" };
const GONE: Ruled<Liveness> = { value: "exited", rule: "its file is gone" };
const UNKNOWN: Ruled<Liveness> = { value: "unknown", rule: "its lifecycle is unknown" };
