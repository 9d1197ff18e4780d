/**
 * Programs of others on both sides of the proxy: what they send arrives byte for byte, and what
 * they do is told status for status.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { describe, expect, test, vi } from "vitest";
import { ACP_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { PROGRAM } from "../e2e/acp-proxy.ts";
import { acpx, mockModel, openAgent, PEERS, QWEN, stage, type Stage } from "./acp/stage.ts";

const SOON = { timeout: 30_000, interval: 20 };
/** Several processes in a row on a machine that may be busy. */
const PATIENT = { timeout: 120_000 };

const AGENT = [process.execPath, join(PEERS, "agent.mjs")];

function expectSameBytes(at: Stage): void {
  const { toAgent, toClient } = at.sums();
  expect(toAgent[0]).toBe(toAgent[1]);
  expect(toClient[0]).toBe(toClient[1]);
  expect(at.complaints()).toBe("");
}

const LACKS_PROGRAMS = lacks("acp-programs");

const FIRST = "(Step 1/2: Look at the notes)";
const OPENED = ["starting: Starting agent", "idle: -", "starting: Opening session", "idle: -"];
/** acpx does not always wait until an agent has put its things away. */
const EXITED = expect.stringMatching(/^exited: Agent exited/) as string;
const WORK = [
  "thinking: Thinking",
  `thinking: Thinking ${FIRST}`,
  `reading: Read notes.txt ${FIRST}`,
  `thinking: Thinking ${FIRST}`,
  `writing: Write result.txt ${FIRST}`,
  `waiting: Write result.txt ${FIRST}`,
];

describe("an agent of the TypeScript SDK", PATIENT, () => {
  test.skipIf(LACKS_PROGRAMS)(
    "and the client acpx have a turn, as if nobody stood between them",
    async () => {
      using at = stage();
      const { code, stdout } = await acpx(at, at.words(AGENT));
      expect(stdout).toContain("All done.");
      expect(code).toBe(0);
      expectSameBytes(at);
      expect(at.steps()).toEqual([
        ...OPENED,
        ...WORK,
        `writing: Write result.txt ${FIRST}`,
        `thinking: Thinking ${FIRST}`,
        `thinking: Responding ${FIRST}`,
        "idle: Done",
        EXITED,
      ]);
      expect(at.statuses()).toEqual([]);
    },
  );

  test("and a client of the SDK that says no; meanwhile the status file asks, too", async () => {
    using at = stage();
    {
      await using agent = openAgent(at, at.words(AGENT));
      const client = v1.client().onRequest("session/request_permission", async () => {
        await vi.waitFor(() => expect(at.statuses()[0]?.task?.state).toBe("input-required"), SOON);
        return { outcome: { outcome: "selected", optionId: "no" } };
      });
      await client.connectWith(v1.ndJsonStream(agent.output, agent.input), async (peer) => {
        await peer.request("initialize", {
          protocolVersion: 1,
          clientInfo: { name: "test", title: "Test Editor", version: "1" },
        });
        const { sessionId } = await peer.request("session/new", { cwd: at.path, mcpServers: [] });
        const prompt = [{ type: "text" as const, text: "Do the work" }];
        const answer = await peer.request("session/prompt", { sessionId, prompt });
        expect(answer).toEqual({ stopReason: "end_turn" });
        await vi.waitFor(() => expect(at.statuses()[0]?.task ?? undefined).toBeUndefined(), SOON);
        expect(at.statuses()).toMatchObject([
          {
            agent_name: "peer-agent",
            runtime: { workspace: at.path, lifecycle: "running" },
            goal: { summary: "Do the work" },
            x_meta: { rollcall: { activity: "idle", acp: { client: "Test Editor" } } },
          },
        ]);
      });
    }
    expectSameBytes(at);
    // The call that was refused is not told to be over: it is known to be.
    expect(at.steps()).toEqual([
      ...OPENED,
      ...WORK,
      `thinking: Thinking ${FIRST}`,
      `thinking: Responding ${FIRST}`,
      "idle: Done",
      EXITED,
    ]);
    expect(at.statuses()).toEqual([]);
  });

  test("in version 2, where the answer to a prompt ends no turn", async () => {
    using at = stage();
    {
      await using agent = openAgent(at, at.words(AGENT));
      let idle: () => void = () => undefined;
      const isIdle = new Promise<void>((resolve) => (idle = resolve));
      const client = v2.client().onNotification("session/update", ({ params: { update } }) => {
        if (update.sessionUpdate === "state_update" && update.state === "idle") idle();
      });
      await client.connectWith(v2.ndJsonStream(agent.output, agent.input), async (peer) => {
        const info = { name: "test", version: "1" };
        await peer.request("initialize", { protocolVersion: 2, info, capabilities: {} });
        const { sessionId } = await peer.request("session/new", { cwd: at.path, mcpServers: [] });
        const prompt = [{ type: "text" as const, text: "Do the work" }];
        await peer.request("session/prompt", { sessionId, prompt });
        await isIdle;
      });
    }
    expectSameBytes(at);
    expect(at.steps()).toEqual([
      ...OPENED,
      "thinking: Thinking",
      "reading: Read notes.txt",
      "thinking: Thinking",
      "thinking: Responding",
      "idle: Done",
      EXITED,
    ]);
  });
});

test.skipIf(lacks("acp-sdk") || LACKS_PROGRAMS)(
  "an agent of the Python SDK and acpx have a turn",
  PATIENT,
  async () => {
    using at = stage();
    const { code, stdout } = await acpx(at, at.words([ACP_PYTHON, join(PEERS, "echo.py")]));
    expect(stdout).toContain("Do the work");
    expect(code).toBe(0);
    expectSameBytes(at);
    expect(at.steps()).toEqual([
      ...OPENED,
      "thinking: Thinking",
      "thinking: Responding",
      "idle: Done",
      EXITED,
    ]);
    expect(
      new Set(
        at
          .timeline()
          .slice(1)
          .map(({ name }) => name),
      ),
    ).toEqual(new Set(["python-echo"]));
  },
);

test.skipIf(LACKS_PROGRAMS)(
  "Qwen Code reads and writes a file for a model on loopback, and asks before it writes",
  PATIENT,
  async () => {
    const qwen = {
      security: { auth: { selectedType: "openai" } },
      telemetry: { enabled: false },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true },
    };
    using folder = stage();
    const work = join(folder.path, "work");
    await using model = await mockModel([
      { name: "read_file", arguments: { file_path: join(work, "notes.txt") } },
      { name: "write_file", arguments: { file_path: join(work, "out.txt"), content: "x\n" } },
    ]);
    const env = {
      ...folder.env,
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: model.url,
      OPENAI_MODEL: "mock",
    };
    const at = { ...folder, env };
    mkdirSync(join(at.path, ".qwen"));
    mkdirSync(work);
    writeFileSync(join(at.path, ".qwen", "settings.json"), JSON.stringify(qwen));
    writeFileSync(join(work, "notes.txt"), "hello\n");
    const { code, stdout } = await acpx(at, at.words([process.execPath, QWEN, "--acp"]), work);
    expect(stdout).toContain("All done.");
    expect(code).toBe(0);
    expectSameBytes(at);
    expect(at.steps()).toEqual([
      ...OPENED,
      "thinking: Thinking",
      "reading: ReadFile: notes.txt",
      "thinking: Thinking",
      "waiting: Writing to out.txt",
      "writing: Writing to out.txt",
      "thinking: Thinking",
      "thinking: Responding",
      "idle: Done",
      EXITED,
    ]);
  },
);

describe("the status in the stream", PATIENT, () => {
  const injected = /"rollcall\/status"|_rollcall\/agent_status|agent_status_update/;

  const heard = (at: Stage) => at.bytes("outer.out").toString().trimEnd().split("\n");

  /** What the client heard that the agent did not say. */
  function added(at: Stage): readonly string[] {
    const said = new Set(at.bytes("inner.out").toString().split("\n"));
    return heard(at).filter((line) => !said.has(line));
  }

  /** A turn of a client that answers when it was told what the agent waits for, if it is told. */
  async function turn(at: Stage, words: readonly string[], wish?: string): Promise<void> {
    await using agent = openAgent(at, words);
    const client = v1.client().onRequest("session/request_permission", async () => {
      await vi.waitFor(() => expect(at.statuses()[0]?.task?.state).toBe("input-required"), SOON);
      if (wish !== "nothing") {
        const isTold = () => expect(heard(at).some((line) => injected.test(line))).toBe(true);
        await vi.waitFor(isTold, SOON);
      }
      return { outcome: { outcome: "selected", optionId: "yes" } };
    });
    await client.connectWith(v1.ndJsonStream(agent.output, agent.input), async (peer) => {
      const clientCapabilities = { _meta: { "rollcall/status": wish } };
      await peer.request("initialize", { protocolVersion: 1, clientCapabilities });
      const { sessionId } = await peer.request("session/new", { cwd: "/", mcpServers: [] });
      await peer.request("session/prompt", { sessionId, prompt: [] });
    });
  }

  test.each(["meta", "ext", "variant", "flat"])(
    "as %s: in the turn, between frames",
    async (mode) => {
      using at = stage();
      await turn(at, at.words(AGENT, [`--inject=${mode}`]));
      const frames = heard(at);
      const ours = frames.filter((line) => injected.test(line));
      // The only thing that stays long enough to be shown: it waits.
      expect(ours).toHaveLength(1);
      expect(added(at)).toEqual(ours);
      expect(ours[0]).toContain('"status":"waiting"');
      expect(ours[0]).not.toContain('"id":');
      const place = frames.indexOf(ours[0] ?? "");
      expect(frames.findIndex((line) => line.includes('"end_turn"'))).toBeGreaterThan(place);
      // Without ours the client heard what the agent said, byte for byte.
      const rest = frames.filter((line) => line !== ours[0]).join("\n");
      expect(`${rest}\n`).toBe(at.bytes("inner.out").toString());
    },
  );

  test("auto: in the form that the client asks for", async () => {
    using at = stage();
    await turn(at, at.words(AGENT, ["--inject=auto"]), "ext");
    expect(added(at)).toEqual([expect.stringContaining('"_rollcall/agent_status"')]);
  });

  test("auto: nothing to a client that does not ask", async () => {
    using at = stage();
    await turn(at, at.words(AGENT, ["--inject=auto"]), "nothing");
    expect(added(at)).toEqual([]);
  });

  test.skipIf(LACKS_PROGRAMS)(
    "as meta: a client that does not know it shows nothing of it",
    async () => {
      using at = stage();
      using plain = stage();
      const gate = join(at.path, "go on");
      const talk = acpx(
        { ...at, env: { ...at.env, PEER_GATE: gate } },
        at.words(AGENT, ["--inject=meta"]),
      );
      await vi.waitFor(
        () => expect(heard(at).some((line) => injected.test(line))).toBe(true),
        SOON,
      );
      writeFileSync(gate, "");
      const { stdout, stderr } = await talk;
      const without = await acpx(plain, plain.words(AGENT));
      expect(added(at)[0]).toContain('"status":"reading"');
      expect(stdout).toBe(without.stdout);
      expect(stderr).toBe(without.stderr);
    },
  );

  test("of two proxies, one behind the other, is said once", async () => {
    using at = stage();
    const inner = [process.execPath, PROGRAM, "acp", "--inject=meta", "--", ...AGENT];
    await turn(at, at.words(inner, ["--inject=meta"]));
    expect(heard(at).filter((line) => injected.test(line))).toHaveLength(1);
  });
});
