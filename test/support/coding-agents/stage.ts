/**
 * Sessions of coding agents without the programs: their hooks, what watches beside them, and the
 * sidecars, all in this process and on a clock of its own. Needs XDG_STATE_HOME and
 * AGENT_STATUS_DIR to be folders of the test's own.
 */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readProcess } from "../../../src/coding-agents/claude-code/presence.ts";
import { presenceOf, stateOf, type Thread } from "../../../src/coding-agents/codex/threads.ts";
import { presenceAtEnd } from "../../../src/coding-agents/copilot/events.ts";
import { badgePath } from "../../../src/coding-agents/hooks/attendance.ts";
import { deposit } from "../../../src/coding-agents/hooks/deposit.ts";
import { DIALECTS } from "../../../src/coding-agents/hooks/dialects.ts";
import { factOf, sessionIdOf, type HookHost } from "../../../src/coding-agents/hooks/fact.ts";
import { recordOf } from "../../../src/coding-agents/hooks/record.ts";
import { Sidecar } from "../../../src/coding-agents/hooks/sidecar.ts";
import { tailOf } from "../../../src/coding-agents/hooks/tail.ts";
import type { Witness } from "../../../src/coding-agents/hooks/witness.ts";
import { field } from "../../../src/core/text.ts";

const START_MS = Date.UTC(2026, 0, 1, 12);

export class HookStage {
  nowMs = START_MS;
  #hooks = 0;
  readonly #killed = new Set<number>();
  readonly #sidecars = new Map<string, Sidecar>();
  /** What Claude Code keeps of its processes, by their numbers. */
  readonly #processes = new Map<number, string>();
  /** What Codex's app-server says of its threads. */
  readonly #threads = new Map<string, Thread>();
  /**
   *   HOST PID {payload}         a hook of the host whose process is PID
   *   sessions/PID.json {…}      what Claude Code writes down of that process
   *   app-server {notice}        what Codex's app-server tells
   *   events/ID {event}          what Copilot CLI writes down of that session
   *   heartbeat                  the sidecars look after their sessions
   *   kill PID                   that process is no more
   */
  act(what: string): void {
    const [word = "", ...rest] = what.split(" ");
    const json = () => JSON.parse(what.slice(what.indexOf("{"))) as unknown;
    const pid = /^sessions\/(?<pid>\d+)\.json$/.exec(word)?.groups?.["pid"];
    if (pid !== undefined) this.#processes.set(Number(pid), JSON.stringify(this.#stamped(json())));
    else if (word === "app-server") this.#tell(json());
    else if (word.startsWith("events/")) this.#write(word.slice("events/".length), json());
    else if (word === "kill") this.#killed.add(Number(rest[0]));
    else if (word !== "heartbeat") return this.#hook(word as HookHost, Number(rest[0]), json());
    this.look();
  }

  look(): void {
    for (const [directory, sidecar] of this.#sidecars) {
      if (!sidecar.look()) this.#sidecars.delete(directory);
    }
  }

  #stamped(record: unknown): object {
    const times = { statusUpdatedAt: this.nowMs, updatedAt: this.nowMs };
    return { procStart: "1", ...times, ...(record as object) };
  }

  #tell(notice: unknown): void {
    const params = field(notice, "params");
    const [id, parent] = [field(params, "threadId"), field(params, "parentThreadId")];
    this.#threads.set(String(id), {
      state: stateOf(field(params, "status")),
      sinceMs: this.nowMs,
      ...(typeof parent === "string" && { parent }),
    });
  }

  /** With `late_ms` in it the event happened so long before it was written down. */
  #write(id: string, event: unknown): void {
    const timestamp = new Date(this.#beganMs(event)).toISOString();
    appendFileSync(eventsPath(id), `${JSON.stringify({ ...(event as object), timestamp })}\n`);
  }

  /** With `late_ms` in its payload the hook began so long before it was heard. */
  #hook(host: HookHost, pid: number, payload: unknown): void {
    this.#hooks += 1;
    const beganMs = this.#beganMs(payload);
    const order = this.#orderAt(beganMs) + this.#hooks;
    const circumstances = {
      id: `${String(order).padStart(16, "0")}-${this.#hooks}`,
      order,
      atMs: beganMs,
      process: { pid, start: "1" },
      ...(host === "codex" && this.#threads.size > 0 && { isShared: true }),
    };
    const dialect = DIALECTS[host];
    const told = dialect.translate?.(payload) ?? payload;
    const fact = factOf(told, circumstances, dialect);
    if (!fact) return;
    const session = { host, sessionId: sessionIdOf(told) ?? "", now: () => this.nowMs };
    const { folder, spool } = recordOf(session);
    deposit(folder, fact);
    if (spool.settle().isOver) return;
    writeFileSync(badgePath(folder), JSON.stringify({ token: "t" }));
    if (this.#sidecars.has(folder)) return;
    const runs = ({ pid: each }: { readonly pid: number }) => !this.#killed.has(each);
    const nowOrder = () => this.#orderAt(this.nowMs);
    const witness = this.#witness(host, session.sessionId);
    this.#sidecars.set(folder, new Sidecar({ ...session, token: "t", runs, nowOrder, witness }));
  }

  #beganMs(told: unknown): number {
    return this.nowMs - Number(field(told, "late_ms") ?? 0);
  }

  #orderAt(ms: number): number {
    return (ms - START_MS) * 1000 + 1_000_000;
  }

  #witness(host: HookHost, sessionId: string): Witness {
    return {
      isLive: true,
      presence: ({ process: { pid } = { pid: 0 } }) => {
        if (host === "codex") return presenceOf(this.#threads, sessionId);
        if (host === "copilot") return presenceAtEnd(tailOf(eventsPath(sessionId)));
        return readProcess(this.#processes.get(pid) ?? "", sessionId)?.presence;
      },
      // In which terminal a thread is has to be asked, and is no part of a recording.
      seating: () => (this.#threads.has(sessionId) ? {} : undefined),
      close: () => undefined,
    };
  }
}

function eventsPath(sessionId: string): string {
  return join(process.env["XDG_STATE_HOME"] ?? "", `${sessionId}.jsonl`);
}
