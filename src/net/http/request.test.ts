import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import { open, readBody, reusedConnections } from "./request.ts";

test("a connection is used again, and closed by the client before the server does it", async () => {
  const server = createServer((_request, response) => response.end("x"));
  let connections = 0;
  let closed = 0;
  server.on("connection", (socket) => {
    connections += 1;
    socket.on("end", () => (closed += 1));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const agent = reusedConnections(50);
  for (const _ of [1, 2]) await readBody(url, await open(url, { agent }));
  expect(connections).toBe(1);
  await vi.waitFor(() => expect(closed).toBe(1));
  agent.destroy();
  server.close();
});
