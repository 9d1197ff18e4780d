/**
 * Helpers for authors of ACP agents and clients. Both wrap the stream that a connection is made on,
 * not the connection: an SDK drops what its schema does not know before any handler sees it, and
 * only on the stream one sees what the two sides negotiated.
 *
 *   agent ──▶ connection ──▶ [withAgentStatus] ──▶ … ──▶ [onAgentStatus] ──▶ connection ──▶ client
 *
 * A stream is what `ndJsonStream` of `@agentclientprotocol/sdk` makes, of whatever version.
 */
import { ReadableStream, WritableStream } from "node:stream/web";
import { AcpDeriver } from "./derive/deriver.ts";
import { statusMessage, STATUS_KEY, STATUS_VARIANT, type ReportedStatus } from "./derive/form.ts";
import { field } from "../../core/text.ts";
import { readFrame, textIn, type AcpFrame } from "./derive/frames.ts";
import { MEMORY } from "./derive/limits.ts";
import { remember } from "./derive/memory.ts";
import { AcpObserver, type AcpObserverOptions } from "./derive/observer.ts";
import type { AcpRecord } from "./derive/record.ts";

/** Messages in and out, as objects. */
export interface AcpStream<Message = unknown> {
  readonly readable: ReadableStream<Message>;
  readonly writable: WritableStream<Message>;
}

export interface AgentStatusReporter<Message> {
  /** The stream for the agent's connection. */
  readonly stream: AcpStream<Message>;
  /**
   * Tells the client, in the form that it asked for or else hidden in `_meta`, which every client
   * accepts. Says whether it was sent: not outside of a turn, and not twice the same.
   */
  readonly report: (sessionId: string, status: ReportedStatus) => Promise<boolean>;
}

/** Gives an agent a way to say what it does. */
export function withAgentStatus<Message>(stream: AcpStream<Message>): AgentStatusReporter<Message> {
  const deriver = new AcpDeriver();
  const lastSaid = new Map<string, string>();
  const writer = stream.writable.getWriter();
  const see = (sender: "agent" | "client", message: Message): void => {
    const frame = readFrame(message);
    if (frame !== undefined) deriver.observe(sender, frame, Date.now());
    if (frame?.kind === "request" && frame.method === "session/prompt") {
      lastSaid.delete(textIn(frame.params, "sessionId") ?? "");
    }
  };
  const writable = new WritableStream<Message>({
    write: (message) => {
      see("agent", message);
      return writer.write(message);
    },
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  });
  const takes = (message: Message): boolean => {
    see("client", message);
    return true;
  };
  const readable = seen(stream.readable, { takes, end: async () => {} });
  return {
    stream: { readable, writable },
    async report(sessionId, status) {
      if (!deriver.hasOpenTurn(sessionId)) return false;
      const value = JSON.stringify(status);
      if (lastSaid.get(sessionId) === value) return false;
      remember(lastSaid, { key: sessionId, value, most: MEMORY.sessions });
      const form = deriver.facts.wants ?? "meta";
      await writer.write(statusMessage(form, sessionId, status) as Message);
      return true;
    },
  };
}

/**
 * Calls with the status of every session, and of the agent as a whole, when it changes: as the
 * agent says it, in whichever form, and derived where it says nothing. Asks the agent for it.
 * Returns what to make the client's connection on.
 */
export function onAgentStatus<Message>(
  stream: AcpStream<Message>,
  onStatus: (record: AcpRecord) => void,
  options: AcpObserverOptions = {},
): AcpStream<Message> {
  const observer = new AcpObserver((record) => {
    try {
      onStatus(record);
    } catch (error) {
      // A display that fails is no reason to lose the agent.
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }, options);
  const writer = stream.writable.getWriter();
  const see = (sender: "agent" | "client", frame: AcpFrame | undefined): void => {
    if (frame !== undefined) observer.observe(sender, frame);
  };
  const end = async (): Promise<void> => {
    observer.exited({});
    await observer.close();
  };
  const writable = new WritableStream<Message>({
    write: async (message) => {
      const asking = isInitialize(message) ? withWish(message) : message;
      see("client", readFrame(asking));
      await writer.write(asking);
    },
    close: () => writer.close(),
    abort: async (reason) => {
      await end();
      await writer.abort(reason);
    },
  });
  const readable = seen(stream.readable, {
    takes: (message) => {
      see("agent", readFrame(message));
      return !isUnwelcome(message, observer);
    },
    end,
  });
  return { readable, writable };
}

interface Passage<Message> {
  /** Looks at a message and says whether it goes on. */
  readonly takes: (message: Message) => boolean;
  /** The stream ended, failed or was given up. */
  readonly end: () => Promise<void>;
}

/** A transform would not say that its reader gave up. */
function seen<Message>(
  source: ReadableStream<Message>,
  { takes, end }: Passage<Message>,
): ReadableStream<Message> {
  const reader = source.getReader();
  return new ReadableStream<Message>({
    async pull(controller) {
      try {
        let next = await reader.read();
        while (!next.done && !takes(next.value)) next = await reader.read();
        if (!next.done) {
          controller.enqueue(next.value);
          return;
        }
        await end();
        controller.close();
      } catch (error) {
        await end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      await end();
      await reader.cancel(reason);
    },
  });
}

function isInitialize(message: unknown): boolean {
  return textIn(message, "method") === "initialize";
}

/** The client's first message, with the wish to be told. v2 has another name for the place. */
function withWish<Message>(message: Message): Message {
  const params = field(message, "params");
  const name = field(params, "info") === undefined ? "clientCapabilities" : "capabilities";
  const capabilities = field(params, name);
  const meta = { ...asObject(field(capabilities, "_meta")), [STATUS_KEY]: "meta" };
  return {
    ...message,
    params: { ...asObject(params), [name]: { ...asObject(capabilities), _meta: meta } },
  };
}

/** A status that this SDK would only complain about. It was read; v2 keeps the nested form. */
function isUnwelcome(message: unknown, { deriver }: AcpObserver): boolean {
  if (textIn(message, "method") !== "session/update") return false;
  const params = field(message, "params");
  if (textIn(params, "sessionUpdate") === STATUS_VARIANT) return true;
  const isNested = textIn(field(params, "update"), "sessionUpdate") === STATUS_VARIANT;
  return isNested && (deriver.facts.protocolVersion ?? 1) < 2;
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
