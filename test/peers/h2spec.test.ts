import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { H2SPEC, lacks } from "../../scripts/prerequisites.mjs";
import { SERVER_LIMITS } from "../../src/net/grpc/limits.ts";
import { Http2Connection } from "../../src/net/http2/connection.ts";
import { encoded } from "../../src/net/http2/hpack.ts";

const HEADERS = encoded([
  [":status", "200"],
  ["content-type", "text/plain"],
]);
const TRAILERS = encoded([["x-end", "1"]]);

/** Fewer streams than usual: the test opens one more than there may be. */
const LIMITS = { ...SERVER_LIMITS, streams: 100 };

test.skipIf(lacks("h2spec"))(
  "our HTTP/2 passes all that h2spec asks of a server",
  { timeout: 60_000 },
  async () => {
    const connections = new Set<Http2Connection>();
    const server = createServer((socket) => {
      const connection = new Http2Connection(socket, {
        limits: LIMITS,
        onClose: () => connections.delete(connection),
        onStream: (stream) =>
          stream.take({
            data: (chunk) => stream.consumed(chunk.length),
            end: () => {
              stream.respond(HEADERS);
              stream.write(Buffer.from("hello"));
              stream.end(TRAILERS);
            },
          }),
      });
      connections.add(connection);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const child = spawn(H2SPEC, ["-h", "127.0.0.1", "-p", String(port)]);
    const [said] = await Promise.all([text(child.stdout), once(child, "exit")]);
    for (const connection of connections) connection.destroy();
    server.close();
    const failures = said.includes("Failures") ? said.slice(said.indexOf("Failures")) : "";
    expect(failures).toBe("");
    expect(said).toMatch(/145 tests, 145 passed, 0 skipped, 0 failed/);
  },
);
