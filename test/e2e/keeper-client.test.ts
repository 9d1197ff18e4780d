/** The client as its users have it: from dist/, in a process of its own. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { daemonOf } from "../keeper/fixture.ts";
import { importsOf, sourcesIn } from "./imports.ts";

const entry = fileURLToPath(new URL("../../dist/lib/keeper.js", import.meta.url));

test("the client brings nothing along but the proto", () => {
  const imports = [...importsOf(entry)];
  const packages = imports.filter((name) => !existsSync(name) && !name.startsWith("node:"));
  expect(new Set(packages)).toEqual(
    new Set(["@bufbuild/protobuf", "@bufbuild/protobuf/codegenv2", "@bufbuild/protobuf/wkt"]),
  );
  const sources = sourcesIn(imports.filter((name) => existsSync(name)));
  const theDaemons = /^src\/(?:daemon|engine|log|search|cli)\//;
  expect(sources).not.toEqual([]);
  expect(sources.filter((path) => theDaemons.test(path))).toEqual([]);
});

async function run(code: string): Promise<{ readonly code: number | null; readonly said: string }> {
  const program = `import { connect } from ${JSON.stringify(pathToFileURL(entry).href)};\n${code}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
  let said = "";
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => (said += text));
  }
  const exit = await new Promise<number | null>((done) => child.on("close", done));
  return { code: exit, said };
}

test("a client with nothing to wait for lets its process go, heartbeats or not", async () => {
  const { grpcAddress: address } = await daemonOf();
  const ended = await run(`
    const keeper = connect({ address: "${address}" });
    const agent = await keeper.register({ name: "a" });
    await agent.acquireLease("t");
    console.log("done");
  `);
  expect(ended).toEqual({ code: 0, said: "done\n" });
});

test("who waits keeps the process alive, even while there is no daemon", async () => {
  const daemon = await daemonOf();
  const { grpcAddress: address } = daemon;
  await daemon.close();
  const ended = await run(`
    const keeper = connect({ address: "${address}" });
    await keeper.find({ timeoutMs: 700 }).catch((error) => console.log(error.code, error.message));
  `);
  expect(ended).toEqual({
    code: 0,
    said: `UNAVAILABLE no daemon answers at ${address} (connection refused)\n`,
  });
});

test("a watch, a worker and a candidate keep the process alive until they are closed", async () => {
  const { grpcAddress: address } = await daemonOf();
  const ended = await run(`
    const keeper = connect({ address: "${address}" });
    const agent = await keeper.register({ name: "a" });
    const worker = agent.work(() => console.log("worked"));
    await keeper.tasks.create({ type: "x" });
    for await (const item of keeper.watch({ topics: ["task.completed"], from: 0 })) break;
    await worker.close();
    const campaign = await agent.campaign("g");
    console.log((await campaign.elected()).term);
    await campaign.close();
    console.log("done");
  `);
  expect(ended).toEqual({ code: 0, said: "worked\n1\ndone\n" });
});
