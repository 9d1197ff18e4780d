/**
 * A peer on each side of the proxy, and somebody who listens on both: what the client sent and what
 * the agent got must be the same bytes, and the other way round.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { ACP_PACKAGES } from "../../../scripts/prerequisites.mjs";
import { PROGRAM, proxyHome, sha256 } from "../../e2e/acp-proxy.ts";

export const PEERS = fileURLToPath(new URL("./", import.meta.url));
const TEE = join(PEERS, "tee.mjs");
const ACPX = join(ACP_PACKAGES, "acpx/dist/cli.js");
export const QWEN = join(ACP_PACKAGES, "@qwen-code/qwen-code/cli.js");

export interface Talk {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function stage(extra: NodeJS.ProcessEnv = {}) {
  const home = proxyHome(extra);
  const bytes = (name: string) => readFileSync(join(home.path, name));
  return {
    ...home,
    /** The words that run an agent behind the proxy, with a listener on each side of it. */
    words: (agent: readonly string[], flags: readonly string[] = []): readonly string[] => {
      const listening = (name: string) => [process.execPath, TEE, join(home.path, name)];
      const proxy = [process.execPath, PROGRAM, "acp", ...flags, "--"];
      return [...listening("outer"), ...proxy, ...listening("inner"), ...agent];
    },
    bytes,
    /** What both sides of the proxy heard, as one word each. */
    sums: () => ({
      toAgent: [sha256(bytes("outer.in")), sha256(bytes("inner.in"))] as const,
      toClient: [sha256(bytes("inner.out")), sha256(bytes("outer.out"))] as const,
    }),
    /** What the agent did, in the words of the timeline. */
    steps: (): readonly string[] =>
      home.timeline().map(({ state, status, message, currentTask }) => {
        const word = state === "starting" || state === "exited" ? state : status;
        const step = currentTask === null ? "" : ` (${currentTask})`;
        return `${word}: ${message ?? "-"}${step}`;
      }),
    [Symbol.dispose]: home[Symbol.dispose],
  };
}

export type Stage = ReturnType<typeof stage>;

/** One turn of the client acpx. */
export async function acpx(at: Stage, words: readonly string[], cwd = at.path): Promise<Talk> {
  const flags = ["--cwd", cwd, "--approve-all", "--timeout", "60", "--agent", words.join(" ")];
  const child = spawn(process.execPath, [ACPX, ...flags, "exec", "Do the work"], {
    env: at.env,
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** The two ends of an agent's pipes, as the SDK wants them. */
export function openAgent(at: Stage, [command = "", ...args]: readonly string[]) {
  const child = spawn(command, args, { env: at.env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  return {
    output: Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    input: Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}

interface Message {
  readonly role: string;
}

/** A model on loopback: it wants these tools, one after the other, and then is done. */
export async function mockModel(tools: readonly { name: string; arguments: object }[]) {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const { messages = [] } = JSON.parse(body || "{}") as { messages?: readonly Message[] };
      const done = messages.filter(({ role }) => role === "tool").length;
      const tool = tools[done];
      const call = tool && {
        index: 0,
        id: `call_${done + 1}`,
        type: "function",
        function: { name: tool.name, arguments: JSON.stringify(tool.arguments) },
      };
      const delta = call ? { tool_calls: [call] } : { content: "All done." };
      const frame = (choice: object) => {
        const choices = [{ index: 0, ...choice }];
        const chunk = { id: "m", object: "chat.completion.chunk", created: 1, model: "mock" };
        return `data: ${JSON.stringify({ ...chunk, choices })}\n\n`;
      };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(frame({ delta: { role: "assistant", ...delta }, finish_reason: null }));
      response.write(frame({ delta: {}, finish_reason: call ? "tool_calls" : "stop" }));
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
