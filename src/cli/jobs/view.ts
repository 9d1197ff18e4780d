/**
 * A job while it runs, on stderr: lines that stay, and on a terminal one last line that changes,
 * with how far it is, what it has left and how long it takes. Without a terminal only lines.
 */
import type { ReceivedEvent } from "../../wires/arcp/client/types.ts";
import type { JobHandle } from "../../wires/arcp/client/job.ts";
import type { Context } from "../context.ts";
import { clean } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import { timeOfDay } from "../terminal/time.ts";
import { truncate } from "../terminal/width.ts";
import { Gauges, gaugeSentence } from "./gauges.ts";

/** More often no eye follows. */
const FRAME_MS = 100;
/** Back to the beginning of a line, and nothing on it. */
export const WIPE = "\r\u001b[2K";
const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const [WIDE_BAR, NARROW_BAR] = [20, 8];

const STYLES: Readonly<Record<string, Style>> = {
  debug: "dim",
  trace: "dim",
  warn: "yellow",
  error: "red",
  critical: "red",
};

export interface ViewOptions {
  /** Whether all events are shown, not only what went wrong. */
  readonly isFollowing: boolean;
}

export class JobView implements AsyncDisposable {
  readonly #context: Context;
  readonly #job: JobHandle;
  readonly #isFollowing: boolean;
  readonly #gauges: Gauges;
  readonly #startMs = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #ending = "";
  #shown = "";
  #frames = 0;

  constructor(context: Context, job: JobHandle, { isFollowing }: ViewOptions) {
    this.#context = context;
    this.#job = job;
    this.#isFollowing = isFollowing;
    this.#gauges = new Gauges(job);
    if (!context.err.isTerminal) return;
    this.#timer = setInterval(() => void this.#draw(), FRAME_MS);
    this.#timer.unref();
  }

  async show(event: ReceivedEvent): Promise<void> {
    this.#gauges.take(event);
    const level = event.kind === "log" ? event.body.level : "info";
    const isTrouble = ["warn", "error", "critical"].includes(level);
    if (!isTrouble && !this.#isFollowing) return;
    // The last line shows these better.
    if (this.#context.err.isTerminal && event.kind === "progress") return;
    const sentence = clean(gaugeSentence(event));
    if (sentence === "") return;
    const { err } = this.#context;
    const time = timeOf(event.ts);
    const words = truncate(sentence, Math.max(err.columns - time.length - 2, 20));
    const style =
      event.kind === "log" ? STYLES[level] : event.kind === "thought" ? "dim" : undefined;
    await this.line(`${err.paint("dim", time)} ${style ? err.paint(style, words) : words}`);
  }

  /** A line that stays, above the one that changes. */
  async line(text: string): Promise<void> {
    const { err } = this.#context;
    if (!err.isTerminal) return err.line(text);
    const last = this.#shown;
    this.#shown = "";
    await err.write(`${WIPE}${text}\n${last}`);
    this.#shown = last;
  }

  /** Sets the text of the last line, beside the gauges. */
  say(ending: string): void {
    this.#ending = ending;
  }

  /** Takes the last line away. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#shown !== "") await this.#context.err.write(WIPE);
    this.#shown = "";
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Gauges shrink before words are cut. */
  async #draw(): Promise<void> {
    const { err } = this.#context;
    const turn = SPINNER[Math.floor(this.#frames++ % SPINNER.length)] ?? "";
    const seconds = Math.floor((performance.now() - this.#startMs) / 1000);
    const width = err.columns < 80 ? NARROW_BAR : WIDE_BAR;
    const parts = [
      `${turn} ${clean(this.#job.agent)}`,
      this.#ending,
      this.#gauges.progress(width),
      ...this.#gauges.budget(Math.floor(width / 2)),
      `${seconds} s`,
    ];
    const line = truncate(parts.filter(Boolean).join("  "), err.columns - 1);
    this.#shown = line;
    await err.write(`${WIPE}${line}`);
  }
}

function timeOf(ts: string): string {
  const ms = Date.parse(ts);
  return Number.isNaN(ms) ? "--:--:--" : timeOfDay(ms).slice(0, 8);
}
