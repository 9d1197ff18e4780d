/**
 * The state of the connection itself: both ends, whether the agent starts, wants a
 * sign-in or is gone (rows 0 and 1 of the table), and questions that belong to no session.
 *
 *   initialize sent ──▶ session/new sent ──▶ sessions speak ──▶ exited
 *          └── refused with "authentication required" ──▶ waiting ──┘ authenticate, session/new
 */
import { field } from "../../../core/text.ts";
import { wantedForm } from "./form.ts";
import { listIn, numberIn, textIn } from "./frames.ts";
import { SHOWN } from "./limits.ts";
import type { DerivedStatus } from "./precedence.ts";
import type { AcpFacts, AcpOption, AcpProgram, AcpQuestion } from "./record.ts";
import type { OpenRequest } from "./requests.ts";
import { cut, shownText } from "./shown.ts";

/** How the agent ended. */
export interface AcpExit {
  readonly code?: number | null;
  readonly signal?: string | null;
}

export class AcpConnection {
  facts: AcpFacts = { protocolVersion: null, agent: null, client: null, wants: null };
  readonly asks = new Map<string, OpenRequest>();
  quietSinceMs = 0;
  /** Open `initialize` and `session/new` by their key. */
  readonly #starting = new Map<string, OpenRequest>();
  #authMethods: readonly AcpOption[] = [];
  #signInSince: string | undefined;
  #exit: string | undefined;

  get hasExited(): boolean {
    return this.#exit !== undefined;
  }

  starts(pending: OpenRequest): void {
    this.#starting.set(pending.key, pending);
    this.quietSinceMs = pending.askedAtMs;
    this.signedIn();
  }

  ends(key: string): void {
    this.#starting.delete(key);
  }

  initializing(params: unknown): void {
    this.facts = {
      ...this.facts,
      client: programIn(params, "clientInfo"),
      wants: wantedForm(field(params, "clientCapabilities") ?? field(params, "capabilities")),
    };
  }

  initialized(result: unknown): void {
    const protocolVersion = numberIn(result, "protocolVersion") ?? null;
    this.facts = { ...this.facts, protocolVersion, agent: programIn(result, "agentInfo") };
    this.#authMethods = listIn(result, "authMethods")
      .slice(0, SHOWN.authMethods)
      .flatMap((method) => {
        const id = shownText(textIn(method, "id") ?? textIn(method, "methodId"), SHOWN.name);
        if (id === null) return [];
        return [{ id, name: shownText(textIn(method, "name"), SHOWN.name) ?? id, kind: "auth" }];
      });
  }

  needsSignIn(nowMs: number): void {
    this.#signInSince ??= new Date(nowMs).toISOString();
  }

  signedIn(): void {
    this.#signInSince = undefined;
  }

  /** Frames are missing: what was open may be over. */
  lost(): void {
    this.#starting.clear();
    this.asks.clear();
  }

  /** Returns what to say of it. */
  exited({ code, signal }: AcpExit): string {
    const how = signal ?? (typeof code === "number" ? `code ${code}` : undefined);
    this.#exit = how === undefined ? "Agent exited" : cut(`Agent exited (${how})`, SHOWN.message);
    this.#starting.clear();
    this.asks.clear();
    this.signedIn();
    return this.#exit;
  }

  /** Nothing where the sessions have the word. */
  derive(): DerivedStatus | undefined {
    if (this.#exit !== undefined) {
      return {
        ...QUIET_ROW,
        state: "exited",
        status: "idle",
        message: this.#exit,
        quiet: undefined,
      };
    }
    const [ask] = this.asks.values();
    if (ask?.ask !== undefined) {
      return { ...WAITING_ROW, message: cut(ask.ask.text, SHOWN.message) };
    }
    if (this.#signInSince !== undefined) return { ...WAITING_ROW, message: "Sign in required" };
    const [start] = this.#starting.values();
    if (start === undefined) return undefined;
    const row = { ...QUIET_ROW, state: "starting", status: "thinking" } as const;
    return start.method === "initialize"
      ? { ...row, message: "Starting agent", quiet: "initialize" }
      : { ...row, message: "Opening session", quiet: "open" };
  }

  questions(): readonly AcpQuestion[] {
    const asked = [...this.asks.values()].flatMap(acpQuestionOf);
    const since = this.#signInSince;
    if (since === undefined) return asked;
    const options = this.#authMethods;
    return [...asked, { id: "auth", kind: "auth", text: "Sign in required", options, since }];
  }
}

const QUIET_ROW = { currentTask: null, source: "derived", background: false } as const;
const WAITING_ROW = {
  ...QUIET_ROW,
  state: "waiting",
  status: "waiting",
  quiet: "waiting",
} as const;

export function acpQuestionOf({ key, ask, askedAtMs }: OpenRequest): readonly AcpQuestion[] {
  if (ask === undefined) return [];
  const { kind, text: asked, options } = ask;
  return [{ id: key, kind, text: asked, options, since: new Date(askedAtMs).toISOString() }];
}

/** "agentInfo" or "clientInfo" in v1; v2 calls both "info". */
function programIn(value: unknown, name: string): AcpProgram | null {
  const info = field(value, name) ?? field(value, "info");
  const known = shownText(textIn(info, "name"), SHOWN.name);
  if (known === null) return null;
  return {
    name: known,
    title: shownText(textIn(info, "title"), SHOWN.name),
    version: shownText(textIn(info, "version"), SHOWN.name),
  };
}
