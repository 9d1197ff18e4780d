/**
 * Questions of the sessions of one OpenCode; a subagent's stands in the row of its parent session.
 *
 *   question.asked, permission.asked ──▶ open ──▶ ….replied, ….rejected
 *                                              │  the tool that asked has run
 *                                              │  the session that asked goes on, stops or fails
 *                                              └▶ closed, for good: a late word opens it no more
 */
import { field, oneLine, wordOf } from "../../core/text.ts";
import type { HostSession } from "../hooks/host-session.ts";
import { IN_PROCESS, TEXT } from "../hooks/limits.ts";
import { optionsOf, questionOf, type HookQuestion } from "../hooks/question.ts";

export interface Asking {
  /** The row that shows it. */
  readonly row: HostSession;
  /** The session that waits for the answer. */
  readonly sessionId: string;
  /** The tool call that is held up, and the message that it is a part of. */
  readonly callId: string | undefined;
  readonly messageId: string | undefined;
}

export class OpenCodeQuestions {
  readonly #open = new Map<string, Asking>();
  readonly #closed = new Set<string>();

  ask(id: string, asking: Asking, question: HookQuestion): void {
    if (this.#closed.has(id)) return;
    this.#open.set(id, asking);
    asking.row.asks(id, question);
  }

  close(id: string): void {
    this.#open.get(id)?.row.answered(id);
    this.#open.delete(id);
    this.#closed.add(id);
    const [oldest] = this.#closed;
    if (this.#closed.size > IN_PROCESS.closedQuestions && oldest !== undefined) {
      this.#closed.delete(oldest);
    }
  }

  /** Closes those of which it is known by other means that nobody waits for an answer. */
  closeWhere(isOver: (asking: Asking) => boolean): void {
    for (const [id, asking] of this.#open) if (isOver(asking)) this.close(id);
  }
}

export function askedOf(properties: unknown): HookQuestion {
  return questionOf("question__question", properties);
}

/** All that a person would allow: the whole command, not the part that a rule matched. */
export function permissionOf(properties: unknown): HookQuestion {
  const tool = wordOf(field(properties, "permission") ?? field(properties, "type"), 80) ?? "tool";
  const metadata = field(properties, "metadata");
  const subject =
    wordOf(field(metadata, "command"), TEXT.questionLength) ??
    wordOf(field(metadata, "filepath"), TEXT.questionLength) ??
    wordOf(field(properties, "title"), TEXT.questionLength) ??
    oneLine(optionsOf(field(properties, "patterns")).join(", "), TEXT.questionLength);
  const text = subject === "" ? `Use ${tool}?` : `${tool}: ${subject}`;
  const always = optionsOf(field(properties, "always")).join(", ");
  const forever = oneLine(`allow always: ${always}`, TEXT.optionLength);
  const options = ["allow once", ...(always === "" ? [] : [forever]), "reject"];
  return { kind: "permission", text, options, tool };
}
