/**
 * An agent that shows its status: it says what it does, and the file follows.
 *
 *   new ──▶ running: a heartbeat every 20 s, a write for every change ──▶ close(), the process ends
 *                                                                          └▶ removed, or stopped
 *
 * The agent comes first. Nothing here throws into it, waits for the disk or keeps its process
 * alive; changes that come while a write is under way go together in the next one. What went wrong
 * is told to `onError`, if somebody wants to know.
 */
import * as fs from "node:fs";
import { statusFolder, statusPath } from "./folder.ts";
import { SCHEMA_VERSION, type Status, type StatusGoal, type StatusTask } from "./format.ts";
import { leaveWith, stay } from "./leaving.ts";
import { EMITTER } from "./limits.ts";
import { writeTimestamp } from "./timestamp.ts";
import { writeHeartbeatSync, writeStatus, writeStatusSync } from "./write.ts";

export interface StatusEmitterOptions {
  readonly agentName: string;
  /** Unique for this run; made up unless given. */
  readonly agentId?: string;
  readonly folder?: string;
  /** An absolute path; where the process runs unless given. */
  readonly workspace?: string;
  readonly a2a?: NonNullable<Status["a2a"]>;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** At the end the file is removed, or says so. */
  readonly atEnd?: "remove" | "stopped";
  /**
   * Whether what it says outlives a loss of power: so unless told otherwise. Without, it is there
   * at once, and not when a process that is busy has come back to it several times.
   */
  readonly isDurable?: boolean;
  readonly heartbeatMs?: number;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
  readonly onError?: (error: unknown) => void;
}

/** The fields that may be known only later, or change. */
export type StatusDescription = Pick<StatusEmitterOptions, "agentName" | "workspace" | "meta">;

export class StatusEmitter implements AsyncDisposable {
  readonly agentId: string;
  readonly path: string;
  #options: StatusEmitterOptions;
  readonly #folder: string;
  readonly #heartbeat: NodeJS.Timeout;
  #goal: StatusGoal | undefined;
  #task: StatusTask | undefined;
  #activityAt: string | undefined;
  #isDirty = false;
  #isClosed = false;
  /** The write under way, and those that follow it. */
  #writing: Promise<void> | undefined;

  constructor(options: StatusEmitterOptions) {
    const { agentName, agentId = `${agentName}-${crypto.randomUUID()}`, signal } = options;
    this.agentId = agentId;
    this.#options = options;
    this.#folder = options.folder ?? statusFolder();
    this.path = statusPath(agentId, this.#folder);
    this.#heartbeat = setInterval(
      () => this.#changed(),
      options.heartbeatMs ?? EMITTER.heartbeatMs,
    ).unref();
    leaveWith(this);
    signal?.addEventListener("abort", this.#close);
    if (signal?.aborted) void this.close();
    else this.#changed();
  }

  /** Sets its name, workspace and meta from now on. */
  describe(description: Partial<StatusDescription>): void {
    this.#options = { ...this.#options, ...description };
    this.#changed();
  }

  /** The goal of the session: its first prompt. */
  goal(summary: string): void {
    this.#goal = { summary, updated_at: this.#now(), source: "initial-prompt" };
    this.#changed();
  }

  /** Its current task; undefined while it is idle. */
  task(task: Omit<StatusTask, "status_timestamp"> | undefined): void {
    this.#task = task && { ...task, status_timestamp: this.#sinceOf(task) };
    this.activity();
    this.#changed();
  }

  /** It did something. As often as you like: at most one write a second comes of it. */
  activity(): void {
    const now = this.#now();
    if (now === this.#activityAt) return;
    this.#activityAt = now;
    this.#changed();
  }

  /** Everything said so far is on the disk, or was told to `onError`. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#end();
    await this.flush();
    try {
      if (this.#options.atEnd === "stopped") await writeStatus(this.#status(), this.#folder);
      else await fs.promises.rm(this.path, { force: true });
    } catch (error) {
      this.#tell(error);
    }
  }

  /** The same at once, for a process that ends and waits for nothing. */
  closeSync(): void {
    if (this.#isClosed) return;
    this.#end();
    try {
      if (this.#options.atEnd === "stopped") writeStatusSync(this.#status(), this.#folder);
      else fs.rmSync(this.path, { force: true });
    } catch (error) {
      this.#tell(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  readonly #close = () => void this.close();

  /** Work goes on whatever is done in it; a question is another one in other words. */
  #sinceOf({ state, summary }: StatusTask): string {
    const before = this.#task;
    const goesOn = state === "working" || summary === before?.summary;
    const heldSince = before?.state === state && goesOn ? before?.status_timestamp : undefined;
    return heldSince ?? this.#now();
  }

  #end(): void {
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    stay(this);
    this.#options.signal?.removeEventListener("abort", this.#close);
  }

  #changed(): void {
    if (this.#isClosed) return;
    this.#isDirty = true;
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    // Not at once: what is said in the same breath goes together.
    await Promise.resolve();
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false;
      try {
        const { isDurable = true } = this.#options;
        if (isDurable) await writeStatus(this.#status(), this.#folder);
        else writeHeartbeatSync(this.#status(), this.#folder);
      } catch (error) {
        this.#tell(error);
      }
    }
    // In the same breath as the last look: what is said from now on begins another one.
    this.#writing = undefined;
  }

  #status(): Status {
    const { agentName, workspace = process.cwd(), a2a, meta } = this.#options;
    return {
      schema_version: SCHEMA_VERSION,
      agent_id: this.agentId,
      agent_name: agentName,
      runtime: {
        lifecycle: this.#isClosed ? "stopped" : "running",
        updated_at: this.#now(),
        pid: process.pid,
        workspace,
        ...(this.#activityAt && { last_activity_at: this.#activityAt }),
      },
      ...(this.#goal && { goal: this.#goal }),
      ...(this.#task && !this.#isClosed && { task: this.#task }),
      ...(a2a && { a2a }),
      ...(meta && { x_meta: meta }),
    };
  }

  #now(): string {
    return writeTimestamp((this.#options.now ?? Date.now)());
  }

  #tell(error: unknown): void {
    this.#options.onError?.(error);
  }
}
