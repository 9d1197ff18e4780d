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
