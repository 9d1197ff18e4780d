/** For tests of the client: a server that answers as the test says, word for word. */
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { framed } from "../../../src/net/grpc/frames.ts";

export type Script = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

export interface ScriptedServer {
  readonly address: string;
  readonly sessions: ServerHttp2Session[];
  /** The headers of every call that came, in order. */
  readonly calls: IncomingHttpHeaders[];
  close(): Promise<void>;
}

/** Call after call takes the next script; the last one goes on. */
export async function serveScript(scripts: readonly Script[], port = 0): Promise<ScriptedServer> {
  const server: Http2Server = createServer();
  const sessions: ServerHttp2Session[] = [];
  const calls: IncomingHttpHeaders[] = [];
  server.on("session", (session) => {
    session.on("error", () => undefined);
    sessions.push(session);
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    const script = scripts[Math.min(calls.length, scripts.length - 1)];
    calls.push(headers);
    script?.(stream, headers);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const bound = server.address();
  const address = `127.0.0.1:${typeof bound === "object" && bound ? bound.port : 0}`;
  return {
    address,
    sessions,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };
}

const OPENING = { ":status": 200, "content-type": "application/grpc" };

/** Answers with these messages, then this status. */
export function answer(
  messages: readonly (Uint8Array | string)[],
  trailers: Readonly<Record<string, string>> = { "grpc-status": "0" },
): Script {
  return (stream) => {
    stream.respond(OPENING, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    for (const message of messages) stream.write(framed(Buffer.from(message)));
    stream.end();
  };
}

/** The bytes as they are, in the place of messages. */
export function raw(bytes: Uint8Array, trailers = { "grpc-status": "0" }): Script {
  return (stream) => {
    stream.respond(OPENING, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end(bytes);
  };
}

/** Headers only, as servers tell of an error before any message. */
export function headersOnly(headers: Readonly<Record<string, string | number>>): Script {
  return (stream) => stream.respond({ ...OPENING, ...headers }, { endStream: true });
}

/** Takes the call and never says a word. */
export const silent: Script = () => undefined;
