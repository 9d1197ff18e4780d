/**
 * A few connections, made when they are needed and used again. Not pg-pool, whose end() waits for
 * ever for a connect that is under way: closing here cuts everything.
 *
 * A host that loses its power, or a router that forgets a connection, tells nobody: a connection
 * that nobody used for a while is asked before it is used again. Where one is dead the others that
 * are idle are likely dead, too: all are made anew.
 */
import { RollcallError } from "../../core/errors.ts";
import type { Connection } from "./driver.ts";
import { POSTGRES } from "./limits.ts";

interface Borrower {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
}

interface IdleConnection {
  readonly connection: Connection;
  readonly sinceMs: number;
}

export class Pool {
  readonly #connect: () => Promise<Connection>;
  readonly #size: number;
  readonly #idleMs: number;
  readonly #open = new Set<Connection>();
  readonly #idle: IdleConnection[] = [];
  readonly #waiting: Borrower[] = [];
  /** Open, or about to be. */
  #count = 0;
  #isClosed = false;

  /** `idleMs`: one that was idle for longer is asked first. */
  constructor(connect: () => Promise<Connection>, size: number, idleMs: number = POSTGRES.idleMs) {
    this.#connect = connect;
    this.#size = size;
    this.#idleMs = idleMs;
  }

  /** With a connection that nobody else uses meanwhile. */
  async run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      return await work(connection);
    } finally {
      this.#give(connection);
    }
  }

  async #take(): Promise<Connection> {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (await this.#isThere(idle)) return idle.connection;
      this.#dropDead(idle.connection);
    }
    if (this.#isClosed) throw closed();
    if (this.#waiting.length >= POSTGRES.waitingReads) {
      const message = `${POSTGRES.waitingReads} calls wait for Postgres`;
      throw new RollcallError("LIMIT_EXCEEDED", message);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (this.#count < this.#size) void this.#add();
    });
  }

  async #isThere({ connection, sinceMs }: IdleConnection): Promise<boolean> {
    const isNew = performance.now() - sinceMs < this.#idleMs;
    return connection.isAlive && (isNew || answers(connection));
  }

  /** One more connection, for the one who waits longest. */
  async #add(): Promise<void> {
    this.#count += 1;
    try {
      const connection = await this.#connect();
      this.#open.add(connection);
      this.#give(connection);
    } catch (error) {
      this.#count -= 1;
      // Without any connection nobody has a better chance.
      const failed = this.#count === 0 ? this.#waiting.length : 1;
      for (const { reject } of this.#waiting.splice(0, failed)) reject(error);
    }
  }

  #give(connection: Connection): void {
    if (this.#isClosed || !connection.isAlive) this.#dropDead(connection);
    else {
      const waiter = this.#waiting.shift();
      if (waiter) waiter.resolve(connection);
      else this.#idle.push({ connection, sinceMs: performance.now() });
    }
    if (this.#waiting.length > 0 && this.#count < this.#size) void this.#add();
  }

  #dropDead(dead: Connection): void {
    this.#drop(dead);
    for (const { connection } of this.#idle.splice(0)) this.#drop(connection);
  }

  #drop(connection: Connection): void {
    if (this.#open.delete(connection)) this.#count -= 1;
    connection.end();
  }

  /** Cuts what is under way. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
    for (const connection of this.#open) connection.end();
    this.#idle.length = 0;
  }
}

/** Whether it answers, soon. */
function answers(connection: Connection): Promise<boolean> {
  return new Promise((resolve) => {
    // An answer that came while this process was busy is read before that.
    const giveUp = () => setImmediate(() => resolve(false));
    const late = setTimeout(giveUp, POSTGRES.idleAnswerMs);
    const answered = (isAlive: boolean) => {
      clearTimeout(late);
      resolve(isAlive);
    };
    connection.query("SELECT 1").then(
      () => answered(true),
      () => answered(false),
    );
  });
}

function closed(): RollcallError {
  return new RollcallError("WRONG_STATE", "the store is closed");
}
