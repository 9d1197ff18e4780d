/**
 * The servers that a URL names, of which one takes writes: the primary. Each is asked in turn,
 * beginning with the last one that did; a standby is left alone, even for reads, because what it
 * shows may be old, or not what its primary will be found to have.
 */
import { RollcallError } from "../../core/errors.ts";
import { connect, type Connection, type Login } from "./driver.ts";
import { isPassing, postgresError } from "./failure.ts";
import type { PostgresHost } from "./url.ts";

const IS_STANDBY =
  "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS standby";

export class Servers {
  readonly #login: Login;
  #primary = 0;

  constructor(login: Login) {
    this.#login = login;
  }

  async connect(): Promise<Connection> {
    const { hosts } = this.#login.url;
    const failures: RollcallError[] = [];
    for (const [index] of hosts.entries()) {
      const at = (this.#primary + index) % hosts.length;
      try {
        const connection = await this.#connectTo(hosts[at] ?? NOWHERE);
        this.#primary = at;
        return connection;
      } catch (error) {
        failures.push(postgresError(error, this.#login.url.description));
      }
    }
    throw mostTelling(failures);
  }

  async #connectTo(host: PostgresHost): Promise<Connection> {
    const connection = await connect(this.#login, host);
    try {
      const [answer] = await connection.query<{ standby: boolean }>(IS_STANDBY);
      if (answer?.standby === false) return connection;
      throw Object.assign(new Error(`${connection.place} is a standby`), STANDBY);
    } catch (error) {
      connection.end();
      throw error;
    }
  }
}

const NOWHERE: PostgresHost = { host: undefined, port: undefined };
/** As Postgres itself would say it, had we tried to write. */
const STANDBY = { code: "25006", severity: "ERROR" };

/** A wrong password tells more than a server that is away. */
function mostTelling(failures: readonly RollcallError[]): RollcallError {
  const found = failures.find((failure) => !isPassing(failure)) ?? failures.at(-1);
  return found ?? new RollcallError("INVALID_ARGUMENT", "the Postgres URL names no host");
}
