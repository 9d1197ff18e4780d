/**
 * Our runtime under load, as it is built: sessions, jobs and events on disk, with the agents that
 * the peer has. It tells its parent how much memory it has, everything unused let go.
 */
import { ArcpRuntime, serveWebSocket, sqliteStore, staticTokens } from "../../dist/lib/arcp.js";

const [, , path = ""] = process.argv;
const LINE = "a line of what the agent does";

const store = sqliteStore({ path });
await store.log.open();
const runtime = new ArcpRuntime({
  runtime: { name: "bench", version: "1.0.0" },
  bearer: staticTokens({ tok: "me@example.com" }),
  store,
  onTrouble: (what, error) => console.error(what, error),
});
runtime
  .registerAgent("echo", async (input, job) => {
    await job.log("info", LINE);
    return { echoed: input };
  })
  .registerAgent("chatty", async (_, job) => {
    for (let i = 0; i < 1000; i += 1) await job.log("info", LINE);
  });
await runtime.start();
const { url } = await serveWebSocket((transport) => runtime.accept(transport));

process.on("message", () => {
  globalThis.gc?.();
  process.send?.({ residentBytes: process.memoryUsage.rss() });
});
process.on("disconnect", () => process.exit());
process.on("SIGTERM", () => process.exit());
process.send?.({ url });
