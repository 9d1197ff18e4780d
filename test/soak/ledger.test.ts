import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Ledger } from "./ledger.ts";

/** A daemon whose log is this. */
async function daemonWith(log: readonly (readonly [number, string, object])[]): Promise<string> {
  const server = createServer(({ url = "" }, response) => {
    if (url.startsWith("/v1/status")) {
      response.end(JSON.stringify({ head: log.at(-1)?.[0] }));
      return;
    }
    const at = "2026-01-02T03:04:05Z";
    const events = log.map(
      ([id, topic, data]) =>
        `id: ${id}\nevent: ${topic}\ndata: ${JSON.stringify({ at, ...data })}\n\n`,
    );
    response.write(events.join(""));
  });
  onTestFinished(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("what is lost, what is there twice and what is left out of the log is found", async () => {
  const ledger = new Ledger();
  ledger.acknowledged("http", "task.created t1");
  ledger.acknowledged("grpc", "task.completed t1");
  ledger.acknowledged("mcp", "lease.acquired k1");
  const url = await daemonWith([
    [1, "task.created", { task: { id: "t1" } }],
    [2, "task.completed", { taskId: "t1" }],
    [4, "task.completed", { taskId: "t1" }],
  ]);
  expect(await ledger.faults(url)).toEqual([
    "4 comes after 2",
    "lost: lease.acquired k1",
    "twice: task.completed t1",
  ]);
});
