/**
 * What is appended, as it is heard: the leader repeats every message of the log, once it is
 * committed, on a subject of its own (JetStream's republish), and this store keeps the last of
 * them for its followers. Messages may be missed, on the way or because too many came at once;
 * the ids that chain appends tell, and then followers read what they lack. Nobody has to make
 * a consumer in the server, which takes 50 ms and is gone with the server that has it.
 */
import type { LogBatch } from "../log.ts";
import { waited } from "../retry.ts";
import { NATS } from "./limits.ts";
import type { NatsSession } from "./session.ts";
import { entriesOf, firstOf, lastIdOf, type StoredMessage } from "./stored.ts";

/** How far a follower has come. */
export interface Seen {
  readonly at: number;
  readonly id: string;
  readonly mark: number;
}

export class News {
  readonly #session: NatsSession;
  readonly #waiting = new Set<() => void>();
  #heard: StoredMessage[] = [];
  #bytes = 0;
  #isListening = false;
  /** How often it began to listen: what came before each was not heard. */
  #beginnings = 0;
  #count = 0;

  constructor(session: NatsSession) {
    this.#session = session;
  }

  /** Grows with every message: taken before a look, it tells whether another is needed. */
  get count(): number {
    return this.#count;
  }

  /** From the first follower on; anew where the servers closed the connection for good. */
  async listen(): Promise<void> {
    if (this.#isListening) return;
    this.#isListening = true;
    try {
      const connection = await this.#session.listen((message) => this.#hear(message));
      this.#beginnings += 1;
      this.#wake();
      void connection.closed().then(() => this.#goDeaf());
    } catch {
      // The servers are away; the next follower that waits tries again.
      this.#isListening = false;
    }
  }

  #goDeaf(): void {
    this.#isListening = false;
    if (this.#waiting.size > 0 && !this.#session.closing.aborted) void this.listen();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Whether there was something since `count`, before it is time to look in any case. */
  async next(count: number, signal: AbortSignal): Promise<boolean> {
    const beginnings = this.#beginnings;
    await this.listen();
    if (this.#beginnings !== beginnings) return false;
    if (this.#count > count || signal.aborted) return true;
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.#waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    await waited(NATS.lookMs, woken.signal);
    this.#waiting.delete(wake);
    signal.removeEventListener("abort", wake);
    return woken.signal.aborted && this.#beginnings === beginnings;
  }

  /** What follows right after what was seen; "gap" when something between was not heard. */
  after(seen: Seen): LogBatch | "gap" | undefined {
    const newer = this.#heard.filter(({ sequence }) => sequence > seen.mark);
    const [first] = newer;
    if (!first) return undefined;
    const sign = newer.findLast(({ count }) => count === 0);
    if (first.count === 0) {
      const isAlone = sign && sign.head === seen.at && isKnown(lastIdOf(sign), seen.id);
      if (isAlone && newer.every(({ count }) => count === 0)) return signOf(sign, seen);
      if (first.head !== seen.at || !isKnown(lastIdOf(first), seen.id)) return "gap";
      return signOf(first, seen);
    }
    if (firstOf(first) !== seen.at + 1 || !isKnown(first.previous, seen.id)) return "gap";
    return {
      first: firstOf(first),
      entries: entriesOf(first, seen.at, this.#session.place),
      mark: first.sequence,
      id: first.id,
      previous: first.previous,
    };
  }

  #hear(message: StoredMessage): void {
    this.#session.see(message);
    this.#heard.push(message);
    this.#bytes += message.data.length;
    const { heardBytes, heardMessages } = NATS;
    if (this.#bytes > heardBytes || this.#heard.length > heardMessages) {
      this.#heard = this.#heard.slice(-heardMessages / 2);
      this.#bytes = this.#heard.reduce((sum, { data }) => sum + data.length, 0);
      if (this.#bytes > heardBytes) this.#heard = [];
    }
    this.#count += 1;
    this.#wake();
  }
}

/** An empty id is one that nobody knows. */
function isKnown(found: string, known: string): boolean {
  return found === known || known === "" || found === "";
}

function signOf({ sequence, head, previous }: StoredMessage, seen: Seen): LogBatch {
  const id = seen.id || previous;
  return { first: head + 1, entries: [], mark: sequence, id, previous: id };
}
