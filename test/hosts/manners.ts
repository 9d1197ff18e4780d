/** How a coding agent looks in a terminal, how a person talks to it, and what it tells late. */
import type { ExpectedRow } from "./fleet.ts";
import type { Stage } from "./stage.ts";
import type { Terminal } from "./terminal.ts";

export type Pattern = string | RegExp;

export interface Manners {
  /** On its screen where it takes a prompt, while it works, asks for permission, and asks. */
  readonly ready: Pattern;
  readonly busy: Pattern;
  readonly dialog: Pattern;
  readonly choice: Pattern;
  /** Until it has a session, where its first screen comes some seconds before. */
  readonly begun?: (stage: Stage) => Promise<void>;
  /** On its screen when an answer comes: its words, unless given. */
  readonly streaming?: Pattern;
  /** What it is told on the command line to work without a terminal, before the prompt. */
  readonly alone: readonly string[];
  /** The model's mark for a command that it asks about: sh, unless given. */
  readonly mark?: string;
  /** The rows while it asks whether to run a command, and whether to write a file. */
  readonly asksToRun: (command: string) => ExpectedRow;
  readonly asksToWrite?: (path: string) => ExpectedRow;
  /** The keys that say no at a dialog. */
  readonly no: readonly string[];
  /** Presses what ends a turn: Escape, unless given. */
  readonly interrupt?: (terminal: Terminal) => Promise<void> | void;
  /** Whether Enter right behind text counts as a part of something pasted. */
  readonly mindsPastes?: boolean;
  /** Whether a session is told of with its first prompt, not before. */
  readonly knownByPrompt?: "always" | "after /clear";
  /** Before the names of its moments, where it has more than one day. */
  readonly prefix?: string;
  /** How late the rows may be where it gives no evidence within 2 s, moment by moment. */
  readonly lateMs?: Partial<Record<LateMoment, number>>;
}

export type LateMoment = "granted" | "ended" | "failed" | "gone";
