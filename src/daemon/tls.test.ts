/** A daemon with TLS and certificates of clients, behind its real doors. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authority, pairFolder, pairFor } from "../../test/support/tls/pairs.ts";
import { systemClock } from "../machine/clock.ts";
import { GrpcChannel } from "../net/grpc/client-channel.ts";
import type { ServerTrust } from "../net/tls/trust.ts";
import { connect } from "../wires/api/client/client.ts";
import { ArcpClient } from "../wires/arcp/client/client.ts";
import { connectWebSocket } from "../wires/arcp/transports/websocket.ts";
import { daemonAgent } from "../net/http/agent.ts";
import { formatAddress } from "./address.ts";
import { startDaemon, type Daemon } from "./compose.ts";
import { loadConfig } from "./config.ts";

const signer = authority();
const clients = authority("clients");
const folder = pairFolder(pairFor(["127.0.0.1"], { issuer: signer }), clients);
let daemon: Daemon;

beforeAll(async () => {
  const { cert, key, clientCa } = folder.files;
  const config = await loadConfig({
    flags: {
      addr: "127.0.0.1:0",
      "http-addr": "127.0.0.1:0",
      memory: "true",
      "status-files": "false",
      "log-level": "silent",
      "tls-cert": cert,
      "tls-key": key,
      "tls-client-ca": clientCa,
      "tls-clients": "ci.example=viewer,*.workers.example",
    },
    env: {},
  });
  daemon = await startDaemon(config);
});

afterAll(async () => {
  await daemon.close();
  folder[Symbol.dispose]();
});

/** A client that presents a certificate for a name. */
function presenting(name: string, issuer = clients): ServerTrust {
  const { cert, key } = pairFor([name], { issuer });
  return { ca: signer.cert, cert, key };
}

function url(): string {
  return `https://${daemon.httpAddress ? formatAddress(daemon.httpAddress) : ""}`;
}

const CARD = { card: { name: "one" } };

async function register(trust: ServerTrust): Promise<string> {
  await using client = connect({ url: url(), trust });
  try {
    await client.post("/v1/agents/register", CARD);
    return "registered";
  } catch (error) {
    return String(error);
  }
}

async function find(trust: ServerTrust): Promise<string> {
  const address = daemon.grpcAddress ? formatAddress(daemon.grpcAddress) : "";
  const channel = new GrpcChannel({ address, timers: systemClock, trust });
  try {
    const path = "/agentkeeper.v1.RegistryService/Find";
    await channel.call({ path, body: new Uint8Array(), timeoutMs: 10_000 });
    return "found";
  } catch (error) {
    return String(error);
  } finally {
    channel.close();
  }
}

async function hello(trust: ServerTrust): Promise<string> {
  const agent = daemonAgent({ url: url(), trust });
  const dial = () => connectWebSocket(`${url().replace("http", "ws")}/arcp`, { agent });
  try {
    await using client = await ArcpClient.connect(dial, { token: "anonymous" });
    return client.session.runtime.name;
  } catch (error) {
    return String(error);
  }
}

describe("a client with a certificate", () => {
  test("has the role of its name, on every door", async () => {
    const worker = presenting("w7.workers.example");
    expect(await register(worker)).toBe("registered");
    expect(await find(worker)).toBe("found");
    expect(await hello(worker)).toBe("rollcall");
    const viewer = presenting("ci.example");
    expect(await register(viewer)).toContain("cert:ci.example (viewer) may not agent.register");
    expect(await find(viewer)).toBe("found");
  });

  test.each([
    ["that another authority signed", () => presenting("ci.example", signer), "is refused"],
    ["of a name without a role", () => presenting("x.example"), "none of its names"],
  ])("%s is refused, though it calls from this machine", async (_, trust, reason) => {
    const wrong = trust();
    expect(await register(wrong)).toContain(reason);
    expect(await find(wrong)).toContain(reason);
    expect(await hello(wrong)).toMatch(/401|refused/);
  });

  test("that is over is refused", async () => {
    const { cert, key } = pairFor(["ci.example"], { issuer: clients, days: -1 });
    expect(await find({ ca: signer.cert, cert, key })).toMatch(/is refused: .*expired/i);
  });
});

test("a client whose certificate ends while it reads a stream is cut", async () => {
  const { cert, key } = pairFor(["ci.example"], { issuer: clients, days: 3 / 86_400 });
  const request = get(`${url()}/v1/events`, { ca: signer.cert, cert, key, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  const cut = once(response, "error");
  response.resume();
  expect(String(await cut)).toContain("aborted");
});

test("a client without one is known by its user, over TLS and without", async () => {
  expect(await register({ ca: signer.cert })).toBe("registered");
  expect(await find({ ca: signer.cert })).toBe("found");
  const { port = 0 } = daemon.httpAddress ?? {};
  expect((await fetch(`http://127.0.0.1:${port}/v1/status`)).status).toBe(200);
});

test("the announcement has the addresses of TLS and the fingerprint", () => {
  const said = daemon.announcement().join("\n");
  expect(said).toMatch(/HTTP {3}https:\/\/127\.0\.0\.1:\d+\n/);
  expect(said).toMatch(/TLS {4}certificate until \d{4}-\d\d-\d\d, SHA-256 (?:[0-9A-F]{2}:){31}/);
});
