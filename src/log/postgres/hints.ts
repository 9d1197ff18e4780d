/**
 * Each append notifies (NOTIFY), so that followers at other members look at once instead of in a
 * second. It is a hint and nothing more: notifications get lost, above all with PgBouncer in
 * transaction mode, which drops LISTEN without a word. So the store notifies itself by another
 * connection; when that does not come back, followers look four times a second, and the operator
 * is told. Where they came once and looks find news without them, the connection is dead, and
 * another one listens.
 */
import { randomUUID } from "node:crypto";
import { waited } from "../retry.ts";
import type { Connection } from "./driver.ts";
import { POSTGRES } from "./limits.ts";
import type { PostgresSession } from "./session.ts";

const SILENT =
  "no notifications come through (PgBouncer in transaction mode?): " +
  `followers look every ${POSTGRES.lookAloneMs} ms instead; name the server itself in the URL`;

export class Hints {
  readonly #session: PostgresSession;
  readonly #waiting = new Set<() => void>();
  #connection: Connection | undefined;
  #isListening = false;
  /** Whether notifications are known to arrive. */
  #isHeard = false;
  #isTold = false;
  #count = 0;
  /** Looks in a row that found what was not hinted at. */
  #unheard = 0;
  #echo = "";

  constructor(session: PostgresSession) {
    this.#session = session;
    session.closing.addEventListener("abort", () => this.#connection?.end(), { once: true });
  }

  /** Grows with every hint: taken before a look, it tells whether there is reason for another. */
  get count(): number {
    return this.#count;
  }

  /** Resolves when there was a hint since `count`, or it is time to look in any case. */
  async next(count: number, signal: AbortSignal): Promise<void> {
    if (!this.#isListening) void this.#listen();
    if (this.#count > count) return;
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.#waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    const lookMs = this.#isHeard ? POSTGRES.lookMs : POSTGRES.lookAloneMs;
    await waited(signal.aborted ? 0 : lookMs, woken.signal);
    this.#waiting.delete(wake);
    signal.removeEventListener("abort", wake);
  }

  /** A look found something, and there was no hint since `count`. */
  missed(count: number): void {
    if (!this.#isHeard || this.#count > count) return;
    this.#unheard += 1;
    if (this.#unheard >= POSTGRES.unheardLooks && this.#connection) this.#lose(this.#connection);
  }

  /** The next follower that waits tries again, when it fails. */
  async #listen(): Promise<void> {
    this.#isListening = true;
    try {
      const connection = await this.#session.connect();
      this.#connection = connection;
      connection.onNotification = (payload) => this.#hear(payload);
      connection.onEnd = () => this.#lose(connection);
      if (this.#session.closing.aborted) return connection.end();
      await connection.query(`LISTEN "${this.#session.channel}"`);
      await this.#tryEcho();
    } catch {
      if (this.#connection) this.#lose(this.#connection);
      else this.#isListening = false;
    }
  }

  async #tryEcho(): Promise<void> {
    const { channel, closing } = this.#session;
    this.#echo = randomUUID();
    await this.#session.run((other) =>
      other.query("SELECT pg_notify($1, $2)", [channel, this.#echo]),
    );
    await waited(POSTGRES.echoMs, closing);
    if (this.#isHeard || this.#isTold || closing.aborted) return;
    this.#isTold = true;
    this.#session.onWarning(`Postgres at ${this.#session.place}: ${SILENT}`);
  }

  #hear(payload: string): void {
    if (payload === this.#echo) this.#isHeard = true;
    this.#count += 1;
    this.#unheard = 0;
    for (const wake of this.#waiting) wake();
  }

  #lose(connection: Connection): void {
    connection.end();
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    this.#isHeard = false;
    this.#isListening = false;
    this.#unheard = 0;
  }
}
