/** An agent in a child process: the same frames, one to a line, over its standard streams. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import {
  ArcpClient,
  ArcpRuntime,
  processTransport,
  staticTokens,
  stdioTransport,
} from "rollcall/arcp";

if (process.argv[2] === "child") beTheChild();
else await beTheParent();

function beTheChild(): void {
  const runtime = new ArcpRuntime({
    runtime: { name: "stdio-child", version: "1.0.0" },
    bearer: staticTokens({ demo: "me@example.com" }),
  });
  runtime.registerAgent("shout", (input) => String(input).toUpperCase());
  runtime.accept(processTransport());
  console.error("logs go to standard error: standard output is for frames");
}

async function beTheParent(): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "child"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const transport = stdioTransport({ input: child.stdout, output: child.stdin });
  const client = await ArcpClient.connect(transport, { token: "demo" });
  const job = await client.submit({ agent: "shout", input: "hello" });
  const { result } = await job.done;
  console.log(client.session.runtime.name, result); // stdio-child HELLO
  await client.close();
  await once(child, "exit"); // it saw its input end

  assert.equal(result, "HELLO");
  assert.equal(child.exitCode, 0);
}
