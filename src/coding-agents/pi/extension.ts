/**
 * The extension for Pi: its session is shown from its start to its shutdown.
 *
 *   session_start                   at rest
 *   before_agent_start              working, on the prompt
 *   agent_start                     working: also when it tries again after an error
 *   an extension opens a dialog     waits for an answer, until the dialog closes
 *   tool_execution_…                a sign of activity
 *   agent_end, agent_settled        at rest, asks with its last words, or failed
 *   session_shutdown                no longer shown
 *
 * A turn is over with `agent_settled`; Pi before 0.80 has no such event, and `agent_end` has to do,
 * although Pi may try again after it. A Pi that another agent runs says so in PI_SUBAGENT, and is
 * not shown.
 */
import { field, wordOf } from "../../core/text.ts";
import { complain } from "../hooks/complaints.ts";
import { HostSession } from "../hooks/host-session.ts";
import { TEXT } from "../hooks/limits.ts";
import { dialogQuestion, observeDialogs, uiOf, type PiUi } from "./dialogs.ts";

type Handler = (event: unknown, context: PiContext) => Promise<void> | void;

/** As much of Pi's API as is used here. */
export interface PiApi {
  on(event: string, handler: Handler): void;
}

export interface PiContext {
  readonly cwd?: string;
  readonly hasUI?: boolean;
  readonly ui?: PiUi;
  readonly model?: { readonly provider?: string; readonly id?: string };
  readonly sessionManager?: { getSessionId?(): string };
}

const TOOL_EVENTS = ["tool_execution_start", "tool_execution_update", "tool_execution_end"];

/** Its own words for a dialog, where `ctx.ui` could not be observed. */
const PROMPT = "ui_prompt";

export function rollcallExtension(pi: PiApi): void {
  if (process.env["PI_SUBAGENT"] === "1") return;
  const watch = new PromptWatch();
  const on = (event: string, handler: Handler) => pi.on(event, guarded(handler));

  on("session_start", (_, context) => watch.start(context));
  on("before_agent_start", (event, { model }) => {
    const prompt = field(event, "prompt");
    const name = [model?.provider, model?.id].filter(Boolean).join("/");
    watch.prompted(typeof prompt === "string" ? prompt : "", name || undefined);
  });
  on("agent_start", () => watch.works());
  for (const event of TOOL_EVENTS) on(event, () => watch.session?.activity());
  on("ui_prompt_start", (event) => watch.prompt(event));
  on("ui_prompt_end", () => watch.session?.answered(PROMPT));
  on("turn_end", (event) => watch.answered(event));
  on("agent_end", (event) => watch.ended(field(event, "messages")));
  on("agent_settled", () => {
    watch.hasSettled = true;
    watch.settled();
  });
  on("session_shutdown", () => watch.stop());
}

/** @alias Pi calls it: see "pi" in package.json. */
// oxlint-disable-next-line import/no-default-export -- so it wants it
export default rollcallExtension;

/**
 * Pi may load two copies of this module (`pi install` and `rollcall hooks install pi`), and loads
 * it anew at /reload: the copy that starts last shows the session.
 */
const WATCHING = Symbol.for("rollcall.pi.watching");
const shared = globalThis as { [WATCHING]?: { stop(): Promise<void> } };

class PromptWatch {
  session: HostSession | undefined;
  /** Whether this Pi says when a turn is over for good. */
  hasSettled = false;
  #error: string | undefined;
  /** Its last answer. */
  #words = "";
  #dialogs = 0;
  #letGo: () => void = () => undefined;

  async start(context: PiContext): Promise<void> {
    await shared[WATCHING]?.stop();
    shared[WATCHING] = this;
    const sessionId = context.sessionManager?.getSessionId?.() ?? `${process.pid}-${Date.now()}`;
    const session = new HostSession({ host: "pi", sessionId, workspace: context.cwd });
    this.session = session;
    const ui = uiOf(context);
    if (ui) this.#letGo = observeDialogs(ui, this.#observer(session));
  }

  #observer(session: HostSession): Parameters<typeof observeDialogs>[1] {
    return {
      opened: (id, question) => {
        this.#dialogs += 1;
        session.asks(id, question);
      },
      closed: (id) => {
        this.#dialogs -= 1;
        session.answered(id);
      },
    };
  }

  prompt(event: unknown): void {
    if (this.#dialogs > 0) return;
    const question = dialogQuestion(field(event, "kind"), field(event, "title"));
    this.session?.asks(PROMPT, question);
  }

  works(): void {
    this.#error = undefined;
    this.#words = "";
    this.#closePrompt();
    this.session?.works();
  }

  prompted(text: string, model: string | undefined): void {
    this.#closePrompt();
    this.session?.prompted(text, model);
  }

  /** Its end may have been missed; a dialog that is observed closes by itself. */
  #closePrompt(): void {
    this.session?.answered(PROMPT);
  }

  /** The model did, well or not. */
  answered(event: unknown): void {
    const outcome = field(event, "outcome");
    // Told since a while after it has `agent_settled`.
    if (outcome !== undefined) this.hasSettled = true;
    this.#hear(field(event, "message"), outcome);
  }

  #hear(answer: unknown, outcome = field(answer, "stopReason")): void {
    this.#error = errorOf(answer, outcome);
    this.#words = outcome === "stop" ? wordsOf(answer) : "";
  }

  ended(messages: unknown): void {
    const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
    if (last !== undefined) this.#hear(last);
    if (!this.hasSettled) this.settled();
  }

  settled(): void {
    this.#closePrompt();
    if (this.#error === undefined) this.session?.answers(this.#words);
    else this.session?.rests("failed", this.#error);
  }

  async stop(): Promise<void> {
    const { session } = this;
    this.session = undefined;
    if (shared[WATCHING] === this) delete shared[WATCHING];
    this.#letGo();
    this.#dialogs = 0;
    await session?.close();
  }
}

function guarded(handler: Handler): Handler {
  return async (event, context) => {
    try {
      await handler(event, context);
    } catch (error) {
      complain(error);
    }
  };
}

/** The error that an answer of the model ended with; being stopped by a person is none. */
function errorOf(answer: unknown, outcome: unknown): string | undefined {
  if (outcome !== "error") return undefined;
  return wordOf(field(answer, "errorMessage"), TEXT.summaryLength) ?? "the model failed";
}

/** The last text of an answer, which may also have thoughts and calls of tools. */
function wordsOf(answer: unknown): string {
  const content = field(answer, "content");
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const words = field(parts.at(-1), "text");
  return typeof words === "string" ? words : "";
}
