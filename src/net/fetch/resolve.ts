/**
 * The addresses of a host name, as this machine resolves it (hosts file, search domains and all).
 *
 * The system's own look-up blocks one of the few threads that files and compression need, too, for
 * as long as a stranger's name server likes, and cannot be called back. So no more than two are
 * under way; the other callers wait, each until its own timeout.
 */
import { lookup } from "node:dns/promises";

/** All addresses of a host name. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

type DnsLookup = (host: string) => Promise<readonly string[]>;

const AT_ONCE = 2;

export function limitedLookup(find: DnsLookup = addressesOf): Resolve {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (host, signal) => {
    if (running < AT_ONCE) running += 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      signal.throwIfAborted();
      return await find(host);
    } finally {
      // The next caller in line takes the place over, so that no new one slips in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

async function addressesOf(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}
