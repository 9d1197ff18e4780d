import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { Connection } from "./driver.ts";
import { NatsSession } from "./session.ts";
import { parseNatsUrl } from "./url.ts";

/** Speaks enough of NATS to leave the first requests unanswered; to others it has no message. */
function converse(socket: Socket, unanswered: number): void {
  const inboxes = new Map<string, string>();
  let requests = 0;
  const info = { server_id: "x", version: "2.15.0", max_payload: 8 << 20, headers: true, proto: 1 };
  socket.on("error", () => undefined);
  socket.write(`INFO ${JSON.stringify(info)}\r\n`);
  socket.setEncoding("utf8").on("data", (text: string) => {
    for (const line of text.split("\r\n")) {
      const [verb, first = "", second = ""] = line.split(" ");
      if (verb === "PING") socket.write("PONG\r\n");
      if (verb === "SUB") inboxes.set(first, second);
      if (verb !== "PUB") continue;
      requests += 1;
      if (requests <= unanswered) continue;
      const status = "NATS/1.0 404 Not Found\r\n\r\n";
      const sizes = `${status.length} ${status.length}`;
      socket.write(`HMSG ${second} ${inboxes.get(second) ?? ""} ${sizes}\r\n${status}\r\n`);
    }
  });
}

async function sessionAt(onConnection: (socket: Socket) => void): Promise<NatsSession> {
  const server = createServer(onConnection).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const session = new NatsSession({
    url: parseNatsUrl(`nats://127.0.0.1:${port}/froze`),
    durability: "strict",
    monitors: [],
    replicas: 3,
    writtenBy: "test",
    onWarning: () => undefined,
  });
  onTestFinished(() => session.close(() => Promise.resolve()));
  return session;
}

// A server that froze still gets its share of direct reads: the others do not know yet.
test("a read that is not answered is soon asked again, perhaps of another server", async () => {
  const session = await sessionAt((socket) => converse(socket, 2));
  const startedMs = performance.now();
  const [end] = await session.direct("rollcall_froze", { last_by_subj: "x" });
  expect(end?.status).toBe(404);
  // 250 and 500 ms, and pauses; with 1.5 s for each it takes more than 3 s.
  expect(performance.now() - startedMs).toBeLessThan(2_500);
});

test("reads that find their connection closed together share the next one", async () => {
  const sockets: Socket[] = [];
  const session = await sessionAt((socket) => {
    sockets.push(socket);
    converse(socket, 0);
  });
  const collect = vi.spyOn(Connection.prototype, "collect");
  const read = () => session.direct("rollcall_froze", { last_by_subj: "x" });
  await read();
  await (collect.mock.contexts[0] as Connection).close();
  expect(await Promise.all([read(), read(), read(), read()])).toHaveLength(4);
  expect(sockets).toHaveLength(2);
});
