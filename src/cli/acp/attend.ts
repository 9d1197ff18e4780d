/** The thread beside a conversation: an attendant derives the status from copied chunks. */
import { constants, setPriority } from "node:os";
import type { MessagePort } from "node:worker_threads";
import { connect, type Client } from "../../wires/api/client/client.ts";
import { systemClock } from "../../machine/clock.ts";
import { findTarget } from "../../net/http/target.ts";
import { Attendant, type AttendantOptions } from "../../wires/acp/proxy/attendant.ts";
import type { FromAttendant, SeenBytes, ToAttendant } from "../../wires/acp/proxy/feed.ts";
import { Recorder } from "../../wires/acp/proxy/recording.ts";
import { complain } from "../../coding-agents/hooks/complaints.ts";

/** The options that can be posted to another thread. */
export interface AttendantData extends Pick<
  AttendantOptions,
  "id" | "agentId" | "name" | "injection" | "isBehindProxy"
> {
  /** Of the daemon that is told: as the flags of the proxy say. */
  readonly url: string | undefined;
  readonly context: string | undefined;
  readonly folder: string | undefined;
  /** Where the conversation is written down, if it is. */
  readonly recordingFd: number | undefined;
}

export function attend(port: MessagePort, data: AttendantData & { readonly seen: SeenBytes }) {
  giveWay();
  // The last wall: what nobody thought of is written down, and the rest goes on.
  process.on("uncaughtException", complain);
  const { url, context, folder, recordingFd, seen, ...named } = data;
  const daemon = daemonOf({ url, context });
  let answer: (isSaid: boolean) => void = () => undefined;
  const attendant = new Attendant({
    ...named,
    env: process.env,
    ...(folder !== undefined && { folder }),
    clock: systemClock,
    recorder: recordingFd === undefined ? undefined : new Recorder(recordingFd),
    interject(line) {
      const wish: FromAttendant = { line, seenBytes: Number(seen[0]) };
      port.postMessage(wish);
      return new Promise((resolve) => (answer = resolve));
    },
    async deliver(report, signal) {
      // When it was told is for the daemon to say: it judges our silence by its own clock.
      const { reportedAtMs: _, ...said } = report;
      await daemon?.post("/v1/fleet/reports", said, { signal });
    },
    onError: complain,
  });
  const take = (message: ToAttendant) => {
    switch (message.kind) {
      case "bytes":
        // Before what comes of it: a line that is said then has looked at these bytes.
        Atomics.add(seen, 0, BigInt(message.chunk.length));
        return attendant.take(message.sender, message.chunk, message.isBroken);
      case "lost":
        return attendant.lost(message.sender);
      case "said":
        return answer(message.isSaid);
      case "ended":
        attendant.ended(message.how);
        void attendant
          .close()
          .catch(complain)
          .finally(() => process.exit());
    }
  };
  port.on("message", (messages: readonly ToAttendant[]) => messages.forEach(take));
}

/** None where its place or its token cannot be read: the status file is written all the same. */
function daemonOf(flags: Pick<AttendantData, "url" | "context">): Client | undefined {
  try {
    const { ROLLCALL_AGENT_KEY: agentKey } = process.env;
    return connect({ ...findTarget(flags, process.env), agentKey: agentKey || undefined });
  } catch (error) {
    complain(error);
    return undefined;
  }
}

/** Where bytes and their reader want the same processor, bytes go first. */
function giveWay(): void {
  // Elsewhere it would be said of the whole process, and of the agents that it starts.
  if (process.platform !== "linux") return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch (error) {
    complain(error);
  }
}
