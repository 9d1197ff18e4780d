/**
 * The unix user behind a loopback connection. Asked once a connection; the tables are read once for
 * all that wait, and only so often, because a read costs the kernel time for every connection there
 * is.
 */
import type { Clock } from "../core/clock.ts";
import { linesOf, readConnections, type ConnectionEnds, type Sought } from "./connections.ts";

export interface PeerUsersOptions {
  readonly clock: Clock;
  /** As `readConnections`; a test puts its own tables there. */
  readonly read?: typeof readConnections;
}

/** Reads a second that go on for ever, and as many at once. */
const READS = 10;
const REFILL_MS = 1_000 / READS;

/** A connection whose user is asked for, maybe by several calls at once. */
interface UserLookup extends Sought {
  readonly answered: Promise<number | undefined>;
  readonly answer: (uid: number | undefined) => void;
  /** A table that changes while it is read may miss a line: it is looked for twice. */
  isSecondLook: boolean;
}

export class PeerUsers {
  readonly #clock: Clock;
  readonly #read: typeof readConnections;
  /** By their lines. */
  #waiting = new Map<string, UserLookup>();
  #isReading = false;
  #tokens = READS;
  #refilledMs: number;

  constructor({ clock, read = readConnections }: PeerUsersOptions) {
    this.#clock = clock;
    this.#read = read;
    this.#refilledMs = clock.monotonicMs();
  }

  /** Undefined where no process has the other end any more, or the tables cannot be read. */
  userOf(ends: ConnectionEnds): Promise<number | undefined> {
    const lines = linesOf(ends);
    const key = lines.join();
    const question = this.#waiting.get(key) ?? questionOf(lines);
    this.#waiting.set(key, question);
    if (!this.#isReading) void this.#readAll();
    return question.answered;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#waiting.size > 0) {
      await this.#turn();
      const questions = [...this.#waiting.values()];
      this.#waiting = new Map();
      await this.#answer(questions);
    }
    this.#isReading = false;
  }

  /** An answer rests on a read that began after the question. */
  async #answer(questions: readonly UserLookup[]): Promise<void> {
    const isRead = await this.#read(questions).then(
      () => true,
      () => false,
    );
    for (const question of questions) {
      const { uid, isSecondLook } = question;
      if (isRead && uid === undefined && !isSecondLook) this.#askAgain(question);
      else question.answer(isRead ? uid : undefined);
    }
  }

  #askAgain(question: UserLookup): void {
    question.isSecondLook = true;
    const key = question.lines.join();
    const other = this.#waiting.get(key);
    if (other) void other.answered.then(question.answer);
    else this.#waiting.set(key, question);
  }

  async #turn(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const earned = (nowMs - this.#refilledMs) / REFILL_MS;
    this.#tokens = Math.min(READS, this.#tokens + earned);
    this.#refilledMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return;
    }
    const waitMs = (1 - this.#tokens) * REFILL_MS;
    await new Promise<void>((resolve) => void this.#clock.after(waitMs, resolve));
    this.#tokens = 0;
    this.#refilledMs = this.#clock.monotonicMs();
  }
}

function questionOf(lines: readonly string[]): UserLookup {
  let answer: UserLookup["answer"] = () => undefined;
  const answered = new Promise<number | undefined>((resolve) => (answer = resolve));
  return { lines, answered, answer, isSecondLook: false };
}
