/** Callers on other machines, with the real clients of the seeds: over TLS, and without. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { A2A_02_PYTHON, AGENTKEEPER_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { authority, pairFor } from "../support/tls/pairs.ts";
import { twoMachines, type Machine } from "./machines.ts";
import { programFile, scratch } from "./programs.ts";

vi.setConfig({ testTimeout: 90_000 });
const PYTHON = { PYTHONDONTWRITEBYTECODE: "1" };
const PEERS = fileURLToPath(new URL("../peers/", import.meta.url));
const NETWORK = "10.77.0.0/24";
const WAYS_OUT = "set tls_cert and tls_key and give them tokens, or name their network in trust";

/** As the page of the SDK has it, from a machine that is not the daemon's. */
const KEEPER = `
import sys, grpc
from agentkeeper import AgentKeeperClient
client = AgentKeeperClient(host=sys.argv[1], port=int(sys.argv[2]))
try:
    agent = client.register("far", "from afar", "1", tools=["git"])
    lease = client.acquire_lease("job-" + agent.agent_id, agent.agent_id)
    assert lease is not None
    print("found", [each.card.name for each in client.find(tools=["git"])])
except grpc.RpcError as error:
    print("refused", error.code().name, error.details())
`;

const EMBEDDED = `
from agentkeeper import AgentKeeperClient
with AgentKeeperClient.embedded() as client:
    agent = client.register("inner", "beside another", "1")
    print("found", [each.card.name for each in client.find()])
`;

/** A status, and below it the body. */
const GET = `require("node:http").get(JSON.parse(process.argv[1]), (response) => {
  console.log(response.statusCode);
  response.pipe(process.stdout);
});`;

/** The port that a door of a started daemon got. */
async function portOf(up: ReturnType<Machine["node"]>, door: "HTTP" | "gRPC"): Promise<string> {
  const [, port = ""] = await up.says(new RegExp(`${door} +\\S*?:(\\d+)\\s`));
  return port;
}

async function output(running: ReturnType<Machine["spawn"]>): Promise<string> {
  await using program = running;
  const { stdout, stderr } = await program.end(60_000);
  return stdout + stderr;
}

describe.runIf(process.platform === "linux")("a caller on another machine", () => {
  test.skipIf(lacks("agentkeeper-sdk"))(
    "with the AgentKeeper SDK is refused with the ways out, and served in a trusted network",
    async () => {
      using machines = await twoMachines();
      const { one, two } = machines;
      const call = async (flags: readonly string[]) => {
        await using up = one.node("agentkeeper", ["--addr=:0", "--metrics-addr=:0", ...flags]);
        const port = await portOf(up, "gRPC");
        const args = ["-c", KEEPER, one.address, port];
        const near = await output(one.spawn(AGENTKEEPER_PYTHON, args, PYTHON));
        const far = await output(two.spawn(AGENTKEEPER_PYTHON, args, PYTHON));
        return { said: up.stdout, near, far };
      };
      const closed = await call([]);
      expect(closed.said).toContain(WAYS_OUT);
      expect(closed.near).toBe("found ['far']\n");
      expect(closed.far).toMatch(/^refused PERMISSION_DENIED only this machine is answered/);
      expect(closed.far).toContain(`the call came from ${two.address}; to answer`);
      expect(closed.far).toContain(WAYS_OUT);
      const open = await call([`--trust=${NETWORK}=agent`]);
      expect(open.said).toContain(`trusted: callers from ${NETWORK} need no token, role agent`);
      expect(open.far).toMatch(/^found \[.*'far'/);
    },
  );

  test.skipIf(lacks("a2a-registry-0.2"))(
    "with the A2A client is verified and listed, in a trusted network",
    async () => {
      using machines = await twoMachines();
      const { one, two } = machines;
      const card = { name: "far", url: `http://${two.address}:8800/`, version: "1" };
      const SITE = `require("node:http").createServer((_, response) =>
        response.setHeader("content-type", "application/json").end(process.argv[1]))
        .listen(8800, () => console.log("serving"));`;
      await using site = two.spawn(process.execPath, ["-e", SITE, JSON.stringify(card)]);
      await site.says(/serving/);
      const flags = ["--trust", NETWORK, "--allow", two.address];
      const words = ["a2a-registry", "--host", "0.0.0.0", "--port", "0", ...flags];
      await using up = one.node("rollcall", words);
      const registry = `http://${one.address}:${await portOf(up, "HTTP")}`;
      const told = JSON.stringify({ registry, cards: [card], options: {} });
      const send = two.spawn(A2A_02_PYTHON, [join(PEERS, "a2a/send.py"), told], PYTHON);
      expect(await output(send)).toBe("[[true, 30]]\n");
    },
  );

  test("with a token is served by every door over TLS, and by none without", async () => {
    using machines = await twoMachines();
    using home = scratch();
    const { one, two } = machines;
    const signer = authority();
    const pair = pairFor([one.address, "box.example"], { issuer: signer });
    const file = (name: string) => join(home.path, name);
    for (const [name, text] of [
      ["cert.pem", pair.cert],
      ["key.pem", pair.key],
      ["ca.pem", signer.cert],
    ] as const) {
      writeFileSync(file(name), text, { mode: 0o600 });
    }
    const flags = ["--tls-cert", file("cert.pem"), "--tls-key", file("key.pem")];
    const bind = ["--addr", "0.0.0.0:0", "--http-addr", "0.0.0.0:0", "--no-status-files"];
    const state = ["--data-dir", file("state")];
    await using up = one.node("rollcall", ["up", ...bind, ...state, ...flags]);
    const [http, grpc] = [await portOf(up, "HTTP"), await portOf(up, "gRPC")];
    const socket = { ROLLCALL_SOCKET: file("state/rollcall.sock") };
    const words = ["tokens", "create", "far", "--role", "operator"];
    const token = (await output(one.node("rollcall", words, socket))).split("\n")[0] ?? "";
    const at = `${one.address}:${http}`;
    const told = {
      https: `https://${at}`,
      http: `http://${at}`,
      grpc: `${one.address}:${grpc}`,
      arcp: `wss://${at}/arcp`,
      token,
      ca: file("ca.pem"),
    };
    const script = fileURLToPath(new URL("far-caller.mjs", import.meta.url));
    const env = { NODE_EXTRA_CA_CERTS: file("ca.pem") };
    const said = await output(two.spawn(process.execPath, [script, JSON.stringify(told)], env));
    const from = `the call came from ${two.address}`;
    const containing = (text: string) => expect.stringContaining(text) as string;
    expect(JSON.parse(said.split("\n")[0] ?? "")).toEqual({
      probe: [200, "ok"],
      readiness: [200, "ready"],
      plain: [403, containing(`${from} without TLS: call the https address`)],
      nobody: [401, containing(`${from} and presents no token`)],
      metrics: [401, containing("presents no token")],
      wrong: [401, containing("the token is not known")],
      token: [200, containing('"rows"')],
      counted: [200, containing("# HELP")],
      grpcNobody: [16, containing("presents no token")],
      grpcWrong: [16, "the token is not known"],
      grpcToken: [0, ""],
      arcpNobody: [1, containing("the token is not known")],
      arcpWrong: [1, containing("the token is not known")],
      arcpToken: [0, "rollcall"],
    });
    const everything = up.stdout + up.stderr;
    expect(everything).not.toContain(token);
    expect(everything).not.toContain(pair.key.split("\n")[1]);
  });

  test("reads the metrics from a trusted network, in any role, and from nowhere else", async () => {
    using machines = await twoMachines();
    const { one, two } = machines;
    const stranger = "10.77.0.3";
    await output(two.spawn("ip", ["address", "add", `${stranger}/24`, "dev", "cable"]));
    const bind = ["--addr", "off", "--http-addr", "0.0.0.0:0", "--no-status-files", "--memory"];
    await using up = one.node("rollcall", ["up", ...bind, `--trust=${two.address}/32=agent`]);
    const port = await portOf(up, "HTTP");
    const ask = async (path: string, localAddress: string) => {
      const call = JSON.stringify({ host: one.address, port, path, localAddress });
      return (await output(two.spawn(process.execPath, ["-e", GET, call]))).split("\n");
    };
    const [status, page] = await ask("/metrics", two.address);
    expect([status, page]).toEqual(["200", expect.stringContaining("# HELP")]);
    expect(await ask("/v1/overview", two.address)).toEqual([
      "403",
      expect.stringMatching(/net:\S+ \(agent\) may not overview\.read/),
    ]);
    const [refusal, why] = await ask("/metrics", stranger);
    expect([refusal, why]).toEqual(["403", expect.stringContaining(`came from ${stranger}`)]);
  });

  test("stops `rollcall up` from a port that would reach it without TLS, unless told", async () => {
    using machines = await twoMachines();
    const { one } = machines;
    const words = ["up", "--memory", "--no-status-files", "--addr", "off", "--http-addr"];
    const refused = await one.node("rollcall", [...words, "0.0.0.0:0"]).end();
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("http_addr 0.0.0.0:0 reaches beyond this machine");
    expect(refused.stderr).toContain(WAYS_OUT);
    await using up = one.node("rollcall", [...words, "0.0.0.0:0", "--insecure"]);
    await up.says(/insecure: other machines are answered without TLS/);
  });
});

test.skipIf(lacks("agentkeeper-sdk") || process.platform !== "linux")(
  "the SDK's embedded mode starts beside a daemon on 7070 and 9090",
  async () => {
    using machines = await twoMachines();
    const { one } = machines;
    const env = { ...PYTHON, AGENTKEEPER_BIN: programFile("agentkeeper") };
    const embedded = () => output(one.spawn(AGENTKEEPER_PYTHON, ["-c", EMBEDDED], env));
    expect(await embedded()).toBe("found ['inner']\n");
    await using up = one.node("rollcall", ["up", "--memory", "--no-status-files"]);
    await up.says(/HTTP +http:\/\/127\.0\.0\.1:9090\s[^]*only this machine/);
    expect(await embedded()).toBe("found ['inner']\n");
  },
);
