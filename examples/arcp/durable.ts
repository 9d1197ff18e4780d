/** With a store on disk, sessions, jobs and all that was said survive the runtime's process. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ArcpClient, ArcpRuntime, serveWebSocket, sqliteStore, staticTokens } from "rollcall/arcp";

const directory = await mkdtemp(join(tmpdir(), "rollcall-example-"));

async function start(port: number, result: () => unknown) {
  const store = sqliteStore({ path: join(directory, "arcp.db") });
  await store.log.open();
  const runtime = new ArcpRuntime({
    runtime: { name: "durable", version: "1.0.0" },
    bearer: staticTokens({ demo: "me@example.com" }),
    store,
  });
  // Without `restart` a job that was interrupted ends with an error that says: try again.
  runtime.registerAgent(
    "stubborn",
    async (_, job) => {
      await job.log("info", "from the beginning");
      return result();
    },
    { restart: "always" },
  );
  const door = await serveWebSocket((transport) => runtime.accept(transport), { port });
  const stop = async () => {
    await door.close();
    await runtime.close();
    await store.close();
  };
  return { url: door.url, port: Number(new URL(door.url).port), stop };
}

const first = await start(0, () => new Promise(() => {}));
await using client = await ArcpClient.connect(first.url, { token: "demo" });
const job = await client.submit({ agent: "stubborn" });
const seen: string[] = [];
let second: typeof first | undefined;
for await (const { kind, body } of job.events()) {
  if (kind === "status") seen.push(body.phase);
  if (kind === "log") seen.push(body.message);
  if (second) continue;
  await first.stop(); // in the middle of the job; a `kill -9` would do as well
  second = await start(first.port, () => "done at last");
}
const { result } = await job.done; // the client came back by itself
console.log(seen, result); // [ 'from the beginning', 'restarted', 'from the … ] done at last
await second?.stop();
await rm(directory, { recursive: true });

assert.deepEqual(seen, ["from the beginning", "restarted", "from the beginning"]);
assert.equal(result, "done at last");
