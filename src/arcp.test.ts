import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { ArcpClient, ArcpRuntime, pairMemoryTransports, staticTokens } from "./arcp.ts";

test("the quick start: a runtime, an agent, a client and a result", async () => {
  await using runtime = new ArcpRuntime({
    runtime: { name: "quickstart", version: "1.1.0" },
    bearer: staticTokens({ demo: "me@example.com" }),
  });
  runtime.registerAgent("echo", async (input, job) => {
    await job.log("info", "echo started");
    return { echoed: input };
  });
  const [theirs, ours] = pairMemoryTransports();
  runtime.accept(ours);
  await using client = await ArcpClient.connect(theirs, { token: "demo" });
  const job = await client.submit({ agent: "echo", input: { hi: 1 } });
  expect((await job.done).result).toEqual({ echoed: { hi: 1 } });
});

test("a result too large for one frame is the same value to the client", async () => {
  const plain = { text: "x".repeat(1_000_000) };
  const quoted = { text: '"'.repeat(1_000_000) };
  await using runtime = new ArcpRuntime({
    runtime: { name: "large", version: "1.0.0" },
    bearer: staticTokens({ demo: "me@example.com" }),
  });
  runtime.registerAgent("plain", () => plain);
  runtime.registerAgent("quoted", () => quoted);
  runtime.registerAgent("streamed", (_, job) => job.streamResult().write("[1]"));
  const [theirs, ours] = pairMemoryTransports();
  runtime.accept(ours);
  await using client = await ArcpClient.connect(theirs, { token: "demo" });
  const resultOf = async (agent: string) => (await (await client.submit({ agent })).done).result;
  // Not with toEqual, which would print a megabyte.
  expect(isDeepStrictEqual(await resultOf("plain"), plain)).toBe(true);
  expect(isDeepStrictEqual(await resultOf("quoted"), quoted)).toBe(true);
  expect(await resultOf("streamed")).toBe("[1]");
});
