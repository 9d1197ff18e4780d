/** An agent's web server: it publishes cards at paths, some of them late, and notes who asked. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Card = Readonly<Record<string, unknown>>;

export interface Site extends Disposable {
  readonly origin: string;
  /** The paths that were asked for, in order. */
  readonly asked: readonly string[];
}

export interface SiteOptions {
  /** The cards by path, of an agent at this origin. */
  readonly cards: (origin: string) => Readonly<Record<string, Card>>;
  readonly delayMs?: number;
}

export async function openSite({ cards, delayMs = 0 }: SiteOptions): Promise<Site> {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    const card = cards(origin)[url];
    response.writeHead(card ? 200 : 404, { "content-type": "application/json" });
    // tidy-allow sleep: an agent that takes its time is what is tested
    setTimeout(() => response.end(JSON.stringify(card ?? {})), card ? delayMs : 0);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin, asked, [Symbol.dispose]: close };
}

/** Of v1.0: one interface, at this URL. */
export function interfaces(url: string) {
  return {
    supportedInterfaces: [{ url, protocolBinding: "json-rpc/2.0", protocolVersion: "1.0" }],
  };
}
