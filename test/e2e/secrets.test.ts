/** No secret of any kind stands in anything that a full run writes, answers or shows. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { connect as connectKeeper } from "../../src/wires/keeper/client/keeper.ts";
import { LOCAL_TOKEN_NAME } from "../../src/machine/local-token.ts";
import { TestIssuer } from "../support/identity/issuer.ts";
import { authority, pairFor } from "../support/tls/pairs.ts";
import { run, scratch, start, type Running } from "./programs.ts";
import { tlsDaemon } from "./tls-daemon.ts";

vi.setConfig({ testTimeout: 120_000 });

const WORKER = fileURLToPath(new URL("agents/worker.mjs", import.meta.url));
/** Of the runtime that the daemon starts, and of one that stands alone. */
const [CHILD_TOKEN, SERVED_TOKEN] = ["child-5up3r-s3cret", "served-5up3r-s3cret"];
/** Of the endpoint of a webhook, which its path may hold, and of an embedder; nobody is there. */
const [WEBHOOK, EMBEDDER_KEY] = ["webhook-5up3r-s3cret", "embedder-5up3r-s3cret"];
const NOBODY_THERE = "http://127.0.0.1:9";

interface Wish {
  readonly token: string;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** By the daemon's own socket: there is no TLS in between. */
function ask(socketPath: string, path: string, { token, body, headers }: Wish): Promise<string> {
  const text = typeof body === "string" ? body : body && JSON.stringify(body);
  const sent = { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers };
  return new Promise((resolve, reject) => {
    const method = text === undefined ? "GET" : "POST";
    const call = request({ socketPath, path, method, headers: sent }, (response) => {
      let said = "";
      response.setEncoding("utf8").on("data", (piece: string) => (said += piece));
      response.on("end", () => resolve(said));
    });
    call.on("error", reject).end(text);
  });
}

function commandLine({ pid }: Running): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8");
}

function filesIn(folder: string): readonly (readonly [string, string])[] {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true });
  return files
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), "latin1")]);
}

function forget(running: Running): Running {
  onTestFinished(() => running[Symbol.asyncDispose]());
  return running;
}

/** A client's own pair in files; the daemon knows the authority that signed it. */
function clientPair(folder: string) {
  const signer = authority();
  const pair = pairFor(["ci.example"], { issuer: signer });
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const [cert, key] = [file("client.crt", pair.cert), file("client.key", pair.key)];
  const flags = ["--tls-client-ca", file("ca.crt", signer.cert), "--tls-clients", "ci.example"];
  return { pair, flags, words: ["--cert-file", cert, "--key-file", key] };
}

async function ground() {
  const issuer = await TestIssuer.start();
  const home = scratch();
  onTestFinished(async () => {
    await issuer.close();
    home[Symbol.dispose]();
  });
  const config = join(home.path, "rollcall.toml");
  const command = JSON.stringify([process.execPath, WORKER]);
  const env = `env = { ARCP_TOKEN = "${CHILD_TOKEN}" }`;
  writeFileSync(join(home.path, "key"), EMBEDDER_KEY, { mode: 0o600 });
  const lines = [
    `notify_webhook = "${NOBODY_THERE}/${WEBHOOK}"`,
    `embedder_url = "${NOBODY_THERE}"`,
    'embedder_model = "m"',
    'embedder_key_file = "key"',
    `[agents.worker]\ncommand = ${command}\n${env}\n`,
  ];
  writeFileSync(config, lines.join("\n"));
  const oidc = ["--oidc-issuer", issuer.url, "--oidc-audience", "rollcall"];
  const roles = ["--oidc-roles", "*=agent", "--log-level", "trace", "--config", config];
  const client = clientPair(home.path);
  const daemon = await tlsDaemon(...oidc, ...roles, ...client.flags, "--local-trust", "token");
  return { ...daemon, issuer, home: home.path, client };
}

test("a run with every kind of secret leaves none of them anywhere", async () => {
  const { up, url, grpc, tls, data, folder, home, issuer, client, owner, create } = await ground();
  const seen = new Map<string, string>();
  const socket = join(data, "rollcall.sock");
  const look = async (what: string, path: string, wish: Wish) => {
    seen.set(`the answer to ${what}`, await ask(socket, path, wish));
  };

  const [localToken = ""] = readFileSync(join(data, LOCAL_TOKEN_NAME), "utf8").split("\n");
  await look("the token of the daemon's user", "/v1/whoami", { token: localToken });
  expect(seen.get("the answer to the token of the daemon's user")).toContain('"name":"local"');
  await look("a guess at it", "/v1/whoami", { token: `${localToken}x` });
  const [token, gone] = [await create("ci", "operator"), await create("gone", "admin")];
  const jwt = await issuer.jwt(Date.now());
  const late = await issuer.jwt(Date.now(), { expiresAtMs: Date.now() - 3_600_000 });
  const card = { card: { name: "a", version: "1" } };
  const registered = await ask(socket, "/v1/agents/register", { token, body: card });
  const { agentId, agentKey } = JSON.parse(registered) as { agentId: string; agentKey: string };
  const withKey = { "rollcall-agent-key": agentKey };
  await look("a JWT", "/v1/whoami", { token: jwt });
  await look("an expired JWT", "/v1/whoami", { token: late });
  const beat = { token, body: { agentId }, headers: withKey };
  await look("a heartbeat", "/v1/agents/heartbeat", beat);
  await look("a heartbeat without its key", "/v1/agents/heartbeat", { token, body: { agentId } });
  await look("a wrong body", "/v1/agents/heartbeat", { token, body: "{", headers: withKey });
  await look("a wrong path", "/v1/nowhere", { token });
  const value = { kind: "text", text: "may I?", sinceMs: Date.now() };
  const facts = { liveness: { value: "alive" }, question: { value } };
  const body = { alias: "script:asks", agentId: "asks", links: [], facts };
  await look("a report that asks", "/v1/fleet/reports", { token, body });
  await look("a search", "/v1/find?query=painter", { token });
  await up.says(/cannot reach the webhook at 127\.0\.0\.1:9/, "stderr");
  await owner("tokens", "revoke", "gone");
  await look("a revoked token", "/v1/whoami", { token: gone });

  const trust = { fingerprint: tls.fingerprint };
  await using keeper = connectKeeper({ address: grpc, token, trust });
  await using agent = await keeper.register({ name: "b" });
  await agent.acquireLease("t");
  await expect(connectKeeper({ address: grpc, token: late, trust }).find()).rejects.toThrow("JWT");
  const arcp = `${url.replace("http", "ws")}/arcp`;
  const once = { token: jwt, trust, reconnect: false };
  await using jobs = await ArcpClient.connect(arcp, once);
  await (
    await jobs.submit({ agent: "worker", input: "x" })
  ).done;
  const resumable = (each: ArcpClient) => each.resumption ?? expect.unreachable("no resumption");
  const resume = resumable(jobs);
  await using resumed = await ArcpClient.connect(arcp, { ...once, resume });
  expect(resumed.session.sessionId).toBe(jobs.session.sessionId);
  const { resumeToken: nextResumeToken } = resumable(resumed);
  const stale = await ArcpClient.connect(arcp, { ...once, resume }).then(() => "", String);
  expect(stale).toMatch(/resume/i);
  seen.set("the refusal of a resume token that was used", stale);
  await using certified = connectKeeper({ address: grpc, trust: { ...trust, ...client.pair } });
  await certified.find();

  const person = join(folder, "person");
  mkdirSync(person);
  const file = join(home, "ci.token");
  writeFileSync(file, token, { mode: 0o600 });
  const typed = ["login", url, "--fingerprint", tls.fingerprint, "--token-file", file];
  const pinned = ["login", url, "--fingerprint", tls.fingerprint, ...client.words];
  const looks = [["whoami"], ["context", "--json"], ["tokens"], ["doctor"], ["ls"]];
  const commands = [[...pinned, "--context", "certified"], ["whoami"], typed, ...looks];
  for (const words of commands) {
    const { stdout, stderr } = await run([...words, "--verbose"], { home: person });
    seen.set(`${seen.size}: rollcall ${words[0]}`, stdout + stderr);
  }
  const said = [...seen.values()].join("\n");
  expect(said).toContain("cert:ci.example");
  expect(said).toContain("token:ci");
  const refused = await run(["agents", "register", "c", "--verbose"], {
    home: person,
    env: { ROLLCALL_TOKEN: gone },
  });
  expect(refused.stderr).toContain("the token gone is revoked");
  seen.set("a refused command", refused.stderr);
  const events = forget(start(["events", "--from", "0", "--json"], { home: person }));
  await events.says(/token\.revoked/);
  const serving = forget(
    start(["serve", "--token", SERVED_TOKEN, "--port", "0"], { program: "arcp", home: person }),
  );
  await serving.says(/listening on/, "stderr").catch(() => serving.says(/listening on/));
  seen.set("the events", events.stdout + events.stderr);
  seen.set("arcp serve", serving.stdout + serving.stderr);
  seen.set("the process list", [up, events, serving].map(commandLine).join("\n"));

  for (const path of ["/v1/status", "/v1/tokens", "/v1/overview", "/v1/fleet", "/metrics"]) {
    await look(path, path, { token });
  }
  up.signal("SIGTERM");
  const { stdout, stderr } = await up.end();
  seen.set("the output of the daemon", stdout + stderr);
  for (const [name, text] of filesIn(data)) seen.set(`the file ${name}`, text);

  expect([...seen.keys()]).toContain("the file rollcall.db");
  expect(seen.get("the events")).toContain("agent.registered");
  const bytesOf = ({ key }: { readonly key: string }) => key.split("\n")[1] ?? "";
  const [key, clientKey] = [bytesOf(tls), bytesOf(client.pair)];
  const { resumeToken } = resume;
  const own = {
    token,
    gone,
    jwt,
    late,
    agentKey,
    key,
    CHILD_TOKEN,
    SERVED_TOKEN,
    WEBHOOK,
    EMBEDDER_KEY,
  };
  const secrets = { ...own, localToken, resumeToken, nextResumeToken, clientKey };
  for (const [kind, secret] of Object.entries(secrets)) {
    expect({ kind, length: secret.length }).not.toEqual({ kind, length: 0 });
    const places = [...seen].filter(([, text]) => text.includes(secret)).map(([place]) => place);
    expect({ kind, places }).toEqual({ kind, places: [] });
  }
});
