/** `rollcall/a2a` as its users have it: from dist/, in a process of its own. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { importsOf } from "./imports.ts";

const entry = fileURLToPath(new URL("../../dist/client/a2a/index.js", import.meta.url));

test("it brings no package along, and no engine", () => {
  const imports = [...importsOf(entry)];
  const packages = imports.filter((name) => !existsSync(name) && !name.startsWith("node:"));
  expect(packages).toEqual([]);
  const files = imports.filter((name) => existsSync(name)).map((name) => name.split("/dist/")[1]);
  expect(files.filter((name) => /^(?:daemon|log|search|cli|wires)\//.test(name ?? ""))).toEqual([]);
  expect(files.filter((name) => name?.startsWith("engine/"))).toEqual(["engine/clock.js"]);
});

test("heartbeats and a registry keep no process alive that has nothing else to do", async () => {
  const program = `
    import { createServer } from "node:http";
    import { RegistryClient, RegistryServer } from ${JSON.stringify(pathToFileURL(entry).href)};
    const registry = new RegistryServer({ reach: { allowsLoopback: true } });
    const server = createServer(registry.mount.node()).listen(0, "127.0.0.1", async () => {
      const registryUrl = "http://127.0.0.1:" + server.address().port;
      const client = new RegistryClient({ name: "a", url: registryUrl }, { registryUrl });
      console.log(await client.sendOnce());
      client.start();
      server.close();
    });
  `;
  const args = ["--input-type=module", "-e", program];
  const run = promisify(execFile)(process.execPath, args, { timeout: 30_000 });
  await expect(run).resolves.toEqual({ stdout: "{ verified: false }\n", stderr: "" });
});
