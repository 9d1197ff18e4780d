/**
 * `rollcall acp -- COMMAND…`: the process between an editor and its agent. The agent is started
 * first, and then the bytes flow; the observer reads along in a thread of its own. Nothing of
 * our own goes to stdout, and to stderr only why an agent could not be started.
 */
import { spawn } from "node:child_process";
import * as net from "node:net";
import type { Readable, Writable } from "node:stream";
import { isatty } from "node:tty";
import { errorText } from "../../core/errors.ts";
import { parseUrl } from "../../net/http/url.ts";
import { systemClock } from "../../machine/clock.ts";
import { AgentProcess, type ProcessExit } from "../../wires/acp/proxy/agent-process.ts";
import { AttendantThread } from "../../wires/acp/proxy/attendant-thread.ts";
import { ProxyConversation } from "../../wires/acp/proxy/conversation.ts";
import { complaintOf, exitCodeOfFailure, leaveAs } from "../../wires/acp/proxy/leave.ts";
import { isProxyId, programName, newProxyId } from "../../wires/acp/proxy/names.ts";
import { openRecording } from "../../wires/acp/proxy/recording.ts";
import { complain } from "../../coding-agents/hooks/complaints.ts";
import { rollcallAgentId } from "../../machine/surroundings.ts";
import type { AttendantData } from "./attend.ts";
import { readProxyCall, type ProxyCall } from "./words.ts";

const USAGE = 2;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

interface PreparedRun extends ProxyCall {
  readonly recordingFd: number | undefined;
}

/** The words behind `acp`. Ends the process. */
export async function runProxy(words: readonly string[]): Promise<void> {
  const call = prepare(words);
  // The last wall: what nobody thought of is written down, and the conversation goes on.
  process.on("uncaughtException", complain);
  try {
    const { command, args } = call;
    leaveAs(await (isatty(0) ? runInTerminal(command, args) : converse(call)));
  } catch (error) {
    process.stderr.write(complaintOf(call.command, error));
    process.exit(exitCodeOfFailure(error));
  }
}

function prepare(words: readonly string[]): PreparedRun {
  try {
    const call = readProxyCall(words);
    if (typeof call === "string") return refuse(call);
    const { recording, url } = call;
    const recordingFd = recording === undefined ? undefined : openRecording(recording);
    if (url !== undefined) parseUrl(url, "--url");
    return { ...call, recordingFd };
  } catch (error) {
    return refuse(errorText(error));
  }
}

function refuse(why: string): never {
  process.stderr.write(`rollcall acp: ${why}\n`);
  process.exit(USAGE);
}

async function converse(call: PreparedRun): Promise<ProcessExit> {
  const { command, args } = call;
  const clock = systemClock;
  const name = programName(command, args);
  const id = newProxyId(name);
  // An id that was inherited is kept: the agent's hooks, and a proxy behind us, join that row.
  const agentId = rollcallAgentId(process.env) ?? id;
  const env = { ...process.env, ROLLCALL_AGENT_ID: agentId };
  const agent = new AgentProcess({ command, args, env, clock });
  for (const signal of SIGNALS) process.on(signal, () => agent.pass(signal));
  const data = { id, agentId, name, isBehindProxy: agentId !== id && isProxyId(agentId) };
  const attendant = attend(call, data, (line) => conversation.interject(line));
  const conversation = new ProxyConversation({
    agent,
    input: inputOf(),
    output: outputOf(),
    clock,
    note: (sender, chunk) => attendant?.note(sender, chunk),
  });
  let ended: ProcessExit | undefined;
  try {
    ended = await conversation.over;
    return ended;
  } finally {
    await attendant?.close(ended).catch(complain);
  }
}

/** Undefined if the thread cannot start: the conversation works without it. */
function attend(
  { url, context, folder, injection, recordingFd }: PreparedRun,
  named: Pick<AttendantData, "id" | "agentId" | "name" | "isBehindProxy">,
  interject: (line: string) => boolean,
): AttendantThread | undefined {
  try {
    const data: AttendantData = { ...named, url, context, folder, injection, recordingFd };
    const program = new URL("./acp-attendant.cjs", import.meta.url);
    return new AttendantThread({ program, data, interject, clock: systemClock, onError: complain });
  } catch (error) {
    complain(error);
    return undefined;
  }
}

/** At a terminal there is no client, but a person who signs in: nobody stands in between. */
async function runInTerminal(command: string, args: readonly string[]): Promise<ProcessExit> {
  const child = spawn(command, args, { stdio: "inherit" });
  // The terminal sends an interrupt to both; what it means is the agent's to say.
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

/** Pipes that can be closed: Node keeps its own standard streams open to the end. */
function inputOf(): Readable {
  return pipe({ fd: 0, readable: true, writable: false }) ?? process.stdin;
}

function outputOf(): Writable {
  return pipe({ fd: 1, readable: false, writable: true }) ?? process.stdout;
}

/** Nothing where it is no pipe but a file. */
function pipe(options: net.SocketConstructorOpts): net.Socket | undefined {
  try {
    return new net.Socket(options);
  } catch {
    return undefined;
  }
}
