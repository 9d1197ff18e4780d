/**
 * A few connections, made when they are needed and used again. Not pg-pool, whose end() waits for
 * ever for a connect that is under way: closing here cuts everything.
 */
import { RollcallError } from "../../core/errors.ts";
import type { Connection } from "./driver.ts";
import { POSTGRES } from "./limits.ts";

interface Borrower {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
}

export class Pool {
  readonly #connect: () => Promise<Connection>;
  readonly #size: number;
  readonly #open = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting: Borrower[] = [];
  /** Open, or about to be. */
  #count = 0;
  #isClosed = false;

  constructor(connect: () => Promise<Connection>, size: number) {
    this.#connect = connect;
    this.#size = size;
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

  #take(): Promise<Connection> {
    if (this.#isClosed) return Promise.reject(closed());
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (idle.isAlive) return Promise.resolve(idle);
      this.#drop(idle);
    }
    if (this.#waiting.length >= POSTGRES.waitingReads) {
      const message = `${POSTGRES.waitingReads} calls wait for Postgres`;
      return Promise.reject(new RollcallError("LIMIT_EXCEEDED", message));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (this.#count < this.#size) void this.#add();
    });
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
    if (this.#isClosed || !connection.isAlive) this.#drop(connection);
    else {
      const waiter = this.#waiting.shift();
      if (waiter) waiter.resolve(connection);
      else this.#idle.push(connection);
    }
    if (this.#waiting.length > 0 && this.#count < this.#size) void this.#add();
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

function closed(): RollcallError {
  return new RollcallError("WRONG_STATE", "the store is closed");
}
