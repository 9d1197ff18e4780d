/** `rollcall/a2a` as its users have it: from dist/, in a process of its own. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { RegistryClient } from "../../src/wires/a2a/client/client.ts";
import type { A2aCard } from "../../src/wires/a2a/client/types.ts";
import { importsOf, sourcesIn } from "./imports.ts";
import { daemon } from "./programs.ts";

const entry = fileURLToPath(new URL("../../dist/lib/a2a.js", import.meta.url));

test("it brings no package along, and no engine", () => {
  const imports = [...importsOf(entry)];
  const packages = imports.filter((name) => !existsSync(name) && !name.startsWith("node:"));
  expect(packages).toEqual([]);
  const sources = sourcesIn(imports.filter((name) => existsSync(name)));
  const theDaemons = /^src\/(?:daemon|engine|log|search|cli|wires(?!\/a2a\/client))\//;
  expect(sources).not.toEqual([]);
  expect(sources.filter((path) => theDaemons.test(path))).toEqual([]);
});

test("who holds the token that the daemon issued is the owner, and nobody else", async () => {
  const { up, url: registryUrl } = await daemon("--memory");
  await using running = up;
  // What it publishes does not name the URL that it registers: that alone shows no owner.
  using agent = await publisher((own) => ({ name: "Moved", url: `${own}/elsewhere` }));
  const card = { name: "Moved", url: `${agent.url}/here` };
  const tier = async () => {
    const answer = await fetch(`${registryUrl}/v1/directory/${encodeURIComponent(card.url)}`);
    return ((await answer.json()) as { entry: { tier: string } }).entry.tier;
  };
  const kept: string[] = [];
  const onRegistrationToken = (token: string): unknown => kept.push(token);
  const first = new RegistryClient(card, { registryUrl, env: {}, onRegistrationToken });
  await expect(first.sendOnce()).resolves.toEqual({ verified: true });
  expect(kept).toHaveLength(1);
  await new RegistryClient(card, { registryUrl, env: {} }).sendOnce();
  const guess = { registrationToken: "x".repeat(43) };
  await new RegistryClient(card, { registryUrl, env: {}, ...guess }).sendOnce();
  expect(await tier()).toBe("reachable");
  // Another process, which was given what the first one kept.
  const [registrationToken = ""] = kept;
  await new RegistryClient(card, { registryUrl, env: {}, registrationToken }).sendOnce();
  expect(await tier()).toBe("owner");
  expect(running.stdout + running.stderr).not.toContain(registrationToken);
}, 30_000);

test("a long list is read page by page", async () => {
  const { up, url: registryUrl } = await daemon("--memory");
  await using running = up;
  using agents = await publisher((own, path) => ({ name: path.slice(1, 2), url: own + path }));
  const clients = ["/a", "/b", "/c"].map((path) => {
    return new RegistryClient({ name: path, url: agents.url + path }, { registryUrl, env: {} });
  });
  for (const client of clients) await client.sendOnce();
  const names: string[][] = [];
  for await (const page of clients[0]?.pages({ limit: 2 }) ?? []) {
    names.push(page.map(({ name }) => name));
  }
  expect(names).toEqual([["a", "b"], ["c"]]);
  await expect(clients[0]?.list({ limit: 1 })).resolves.toHaveLength(1);
  expect(running.stderr).toBe("");
}, 30_000);

/** Publishes a card for every path. */
async function publisher(cardFor: (own: string, path: string) => A2aCard) {
  const server = createServer((request, response) => {
    const path = request.url?.split("/.well-known/")[0] ?? "";
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(cardFor(url, path)));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, [Symbol.dispose]: () => void server.close() };
}

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
