/**
 * `rollcall acp -- COMMAND…`: the process between an editor and its agent. The agent is started
 * first; whatever else there is to load and to do comes while it starts. Nothing of our own goes to
 * stdout, and to stderr only why an agent could not be started.
 */
import { spawn } from "node:child_process";
import * as net from "node:net";
import type { Readable, Writable } from "node:stream";
import { isatty } from "node:tty";
import { findUrl } from "../../client/url.ts";
import type { Report } from "../../core/reports.ts";
import { systemClock } from "../../engine/clock.ts";
import { AgentProcess, type Ended } from "../../hosts/acp/agent-process.ts";
import type { Attendant } from "../../hosts/acp/attendant.ts";
import { Conversation } from "../../hosts/acp/conversation.ts";
import { complaintOf, exitCodeOfFailure, leaveAs } from "../../hosts/acp/leave.ts";
import { isProxyId, nameOf, newProxyId } from "../../hosts/acp/names.ts";
import { Recorder } from "../../hosts/acp/recording.ts";
import { complain } from "../../hosts/complaints.ts";
import { rollcallAgentId } from "../../hosts/surroundings.ts";
import { readProxyCall, type ProxyCall } from "./words.ts";

const USAGE = 2;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

interface Prepared extends ProxyCall {
  readonly daemonUrl: string;
  readonly recorder: Recorder | undefined;
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

function prepare(words: readonly string[]): Prepared {
  try {
    const call = readProxyCall(words);
    if (typeof call === "string") return refuse(call);
    const recorder = call.recording === undefined ? undefined : new Recorder(call.recording);
    return { ...call, daemonUrl: findUrl(call.url, process.env), recorder };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(why: string): never {
  process.stderr.write(`rollcall acp: ${why}\n`);
  process.exit(USAGE);
}

async function converse(call: Prepared): Promise<Ended> {
  const { command, args } = call;
  const clock = systemClock;
  const name = nameOf(command, args);
  const id = newProxyId(name);
  // Who was told whose it is stays so: hooks of the agent, and a proxy behind us, join that row.
  const agentId = rollcallAgentId(process.env) ?? id;
  const env = { ...process.env, ROLLCALL_AGENT_ID: agentId };
  const agent = new AgentProcess({ command, args, env, clock });
  for (const signal of SIGNALS) process.on(signal, () => agent.pass(signal));
  const attendant = await attend(call, { id, agentId, name }, (line) => say(line));
  const conversation = new Conversation({
    agent,
    input: inputOf(),
    output: outputOf(),
    clock,
    note: (sender, chunk) => attendant?.note(sender, chunk),
  });
  const say = (line: string) => conversation.interject(line);
  try {
    const ended = await conversation.over;
    attendant?.ended(ended);
    return ended;
  } finally {
    await attendant?.close().catch(complain);
  }
}

interface Named {
  readonly id: string;
  readonly agentId: string;
  readonly name: string;
}

/** Nobody where that cannot be: the conversation needs none. */
async function attend(
  call: Prepared,
  named: Named,
  interject: (line: string) => boolean,
): Promise<Attendant | undefined> {
  try {
    const { Attendant } = await import("../../hosts/acp/attendant.ts");
    const { connect } = await import("../../client/client.ts");
    const daemon = connect({ url: call.daemonUrl });
    return new Attendant({
      ...named,
      env: process.env,
      ...(call.directory !== undefined && { directory: call.directory }),
      clock: systemClock,
      injection: call.injection,
      isBehindProxy: named.agentId !== named.id && isProxyId(named.agentId),
      interject,
      recorder: call.recorder,
      deliver: (report: Report, signal) =>
        daemon.post("/v1/fleet/reports", { ...report }, { signal }),
      onError: complain,
    });
  } catch (error) {
    complain(error);
    return undefined;
  }
}

/** At a terminal there is no client, but a person who signs in: nobody stands in between. */
async function runInTerminal(command: string, args: readonly string[]): Promise<Ended> {
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
