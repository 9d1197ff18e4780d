/**
 * `rollcall acp -- COMMAND…`: the process between an editor and its agent. The agent is started
 * first; whatever else there is to load and to do comes while it starts.
 */
import * as net from "node:net";
import type { Readable, Writable } from "node:stream";
import { systemClock } from "../../engine/clock.ts";
import { AgentProcess, type Ended } from "../../hosts/acp/agent-process.ts";
import { Conversation } from "../../hosts/acp/conversation.ts";
import { complaintOf, exitCodeOfFailure, leaveAs } from "../../hosts/acp/leave.ts";
import { readProxyCall, type ProxyCall } from "./words.ts";

const USAGE = 2;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** The words behind `acp`. Ends the process. */
export async function runProxy(words: readonly string[]): Promise<void> {
  const call = readProxyCall(words);
  if (typeof call === "string") {
    process.stderr.write(`rollcall acp: ${call}\n`);
    process.exit(USAGE);
  }
  try {
    leaveAs(await converse(call));
  } catch (error) {
    process.stderr.write(complaintOf(call.command, error));
    process.exit(exitCodeOfFailure(error));
  }
}

async function converse({ command, args }: ProxyCall): Promise<Ended> {
  const clock = systemClock;
  const agent = new AgentProcess({ command, args, env: process.env, clock });
  for (const signal of SIGNALS) process.on(signal, () => agent.pass(signal));
  const conversation = new Conversation({
    agent,
    input: inputOf(),
    output: outputOf(),
    clock,
    note: () => undefined,
  });
  return conversation.over;
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
