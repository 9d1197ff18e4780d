import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { exportJWK, FlattenedSign, generateKeyPair } from "jose";
import { expect, test } from "vitest";
import { canonical } from "../../src/directory/cards/canonical.ts";
import { readJson } from "../../src/core/json.ts";
import { daemon, run, scratch, start } from "./programs.ts";

/** An agent that publishes a card, which a test may change. */
async function agent() {
  const card: Record<string, unknown> = {
    name: "Lingua",
    description: "Translates \u001b[2Jcontracts",
    skills: [{ id: "translate", name: "Translation", tags: ["french"] }],
  };
  const server = createServer((request, response) => {
    const isCard = request.url === "/.well-known/agent-card.json";
    response.writeHead(isCard ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isCard ? card : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a2a`;
  card["url"] = url;
  return { url, card, [Symbol.dispose]: () => void server.close() };
}

test("rollcall directory: add, ls, get, search, verify and rm", { timeout: 60_000 }, async () => {
  const { up, url } = await daemon("--memory", "--a2a-addr", "127.0.0.1:0");
  await using running = up;
  const [, a2a = ""] = await running.says(/A2A +(http:\S+)/);
  using lingua = await agent();
  const directory = (...words: string[]) => run(["directory", ...words, "--url", url]);

  const empty = await directory();
  expect([empty.code, empty.stdout]).toEqual([0, ""]);
  expect(empty.stderr).toContain("rollcall directory add URL");

  const added = await directory("add", lingua.url);
  expect(added.stdout).toMatch(/^name +Lingua$/m);
  expect(added.stdout).toMatch(/^description +Translates contracts$/m);
  expect(added.stdout).toMatch(/^skill +translate: Translation \(french\)$/m);

  const listed = await directory("ls", "--tier", "owner");
  expect(listed.stdout).toMatch(/^NAME +TIER +SEEN +URL/);
  expect(listed.stdout).toMatch(/^Lingua +owner +by hand +http:/m);
  const json = JSON.parse((await directory("--json")).stdout) as Record<string, unknown>;
  expect(json).toMatchObject({ total: 1, entries: [{ url: lingua.url, tier: "owner" }] });
  const signed = await directory("ls", "--tier", "signed");
  expect(signed.stderr).toContain("no agent fits");

  const found = await directory("search", "translation", "of", "contracts");
  expect(found.stdout).toContain(lingua.url);

  lingua.card["description"] = "Translates poems";
  const verified = await directory("verify", lingua.url);
  expect(verified.stdout).toMatch(/^description +Translates poems$/m);
  const served = (await (await fetch(`${a2a}/.well-known/agents`)).json()) as unknown[];
  expect(served).toMatchObject([{ name: "Lingua", description: "Translates poems" }]);

  expect((await directory("rm", lingua.url)).code).toBe(0);
  const gone = await directory("get", lingua.url);
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining("no agent in the dir")]);
  const nobody = await directory("search", "translation");
  expect(nobody.code).toBe(1);
});

test("what is registered is there after a crash, and a heartbeat goes on from there", async () => {
  using folder = scratch();
  using lingua = await agent();
  const beat = async (registry: string) => {
    const answer = await fetch(`${registry}/.well-known/agents/heartbeat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent_card: lingua.card }),
    });
    return { token: answer.headers.get("rollcall-registration-token"), body: await answer.json() };
  };
  const served = async (registry: string) => {
    const answer = await fetch(`${registry}/.well-known/agents`);
    return { etag: answer.headers.get("etag"), text: await answer.text() };
  };
  const first = await daemon("--data-dir", folder.path);
  const before = await beat(first.url);
  expect(before).toMatchObject({ token: expect.any(String) as string, body: { verified: true } });
  const listed = await served(first.url);
  first.up.signal("SIGKILL");
  await first.up.end();

  const second = await daemon("--data-dir", folder.path);
  await using running = second.up;
  expect(await served(second.url)).toEqual(listed);
  // It is the one that was known: nobody is issued a second token.
  expect(await beat(second.url)).toEqual({ token: null, body: { status: "ok", verified: true } });
  expect(running.stderr).toBe("");
}, 60_000);

test("rollcall a2a-registry takes one free port, and says which", async () => {
  await using registry = start(["a2a-registry", "--port", "0"]);
  const [, url = ""] = await registry.says(/HTTP +(http:\S+)[^]*only this machine/);
  expect(registry.stdout).not.toContain("gRPC");
  expect(await (await fetch(`${url}/v1/status`)).json()).not.toHaveProperty("grpcAddress");
  expect(new URL(url).port).not.toBe("0");
  expect(await (await fetch(`${url}/.well-known/agents`)).json()).toEqual([]);
  const wrong = await run(["a2a-registry", "--port", "65536"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("not a port")]);
}, 30_000);

test("a card signed by a pinned key is of tier signed, until its signature is wrong", async () => {
  using folder = scratch();
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const keysFile = join(folder.path, "keys.json");
  const keys = [{ ...(await exportJWK(publicKey)), kid: "ours" }];
  writeFileSync(keysFile, JSON.stringify({ keys }));
  const { up, url } = await daemon("--memory", "--a2a-keys-file", keysFile);
  await using running = up;
  using lingua = await agent();
  const sign = async (kid: string) => {
    const { signatures: _, ...unsigned } = lingua.card;
    const read = readJson(JSON.stringify(unsigned));
    const payload = new TextEncoder().encode(read.ok ? canonical(read.value) : "");
    const header = { alg: "ES256", kid };
    const jws = await new FlattenedSign(payload).setProtectedHeader(header).sign(privateKey);
    lingua.card["signatures"] = [{ protected: jws.protected, signature: jws.signature }];
  };
  const directory = (...words: string[]) => run(["directory", ...words, "--url", url]);

  await sign("ours");
  const added = await directory("add", lingua.url);
  expect(added.stdout).toMatch(/^tier +signed$/m);
  expect(added.stdout).toMatch(/^signature +ES256 by ours \(pinned key\)$/m);

  // Something else under the old signature: it is still the card of its place, and no more.
  lingua.card["description"] = "Translates poems";
  const changed = await directory("verify", lingua.url);
  expect(changed.stdout).toMatch(/^tier +owner$/m);
  expect(changed.stdout).toMatch(
    /^signature +not valid: the signature of key ours does not match/m,
  );
  expect((await directory("ls", "--tier", "signed")).stdout).toBe("");

  await sign("somebody");
  expect((await directory("verify", lingua.url)).stdout).toMatch(/^signature .*is not pinned/m);
  await sign("ours");
  expect((await directory("verify", lingua.url)).stdout).toMatch(/^tier +signed$/m);
  expect(running.stderr).toBe("");

  writeFileSync(keysFile, "no keys");
  await using refused = start(["up", "--memory", "--a2a-keys-file", keysFile]);
  const { code, stderr } = await refused.end();
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("keys.json: the key set is not JSON"),
  ]);
}, 60_000);
