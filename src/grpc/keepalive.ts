/** Asks the other end of a connection now and then whether it is there; ends it if it is not. */
import type { Http2Session } from "node:http2";

export interface Keepalive {
  /** How often it is asked, and how long it has to answer. */
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
}

/** Until the session closes. */
export function keepAlive(session: Http2Session, options: Keepalive): void {
  const { keepaliveMs, keepaliveTimeoutMs } = options;
  let lateness: NodeJS.Timeout | undefined;
  const ask = () => {
    if (session.destroyed) return;
    clearTimeout(lateness);
    lateness = setTimeout(() => session.destroy(), keepaliveTimeoutMs);
    session.ping(() => clearTimeout(lateness));
  };
  const asking = setInterval(ask, keepaliveMs);
  session.once("close", () => {
    clearInterval(asking);
    clearTimeout(lateness);
  });
}
