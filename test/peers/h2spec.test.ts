import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { H2SPEC, lacks } from "../../scripts/prerequisites.mjs";
import { SERVER_LIMITS } from "../../src/net/grpc/limits.ts";
import { Http2Connection } from "../../src/net/http2/connection.ts";
import { encoded } from "../../src/net/http2/hpack.ts";
import { systemClock } from "../../src/machine/clock.ts";
import { frontOf } from "../../src/net/tls/front.ts";
import { KeyPair } from "../../src/net/tls/pair.ts";
import { newWaiting } from "../../src/net/waiting.ts";
import { pairFolder, pairFor } from "../support/tls/pairs.ts";

const HEADERS = encoded([
  [":status", "200"],
  ["content-type", "text/plain"],
]);
const TRAILERS = encoded([["x-end", "1"]]);

/** Fewer streams than usual: the test opens one more than there may be. */
const LIMITS = { ...SERVER_LIMITS, strangerStreams: 100 };

async function secured() {
  const folder = pairFolder(pairFor(["127.0.0.1"]));
  const { cert, key } = folder.files;
  const quiet = { onRenewal: () => undefined, onTrouble: () => undefined };
  const pair = await KeyPair.open({ files: { cert, key }, clock: systemClock, ...quiet });
  return {
    pair,
    async [Symbol.asyncDispose]() {
      pair.close();
      folder[Symbol.dispose]();
    },
  };
}

test.skipIf(lacks("h2spec")).each([{ over: "plain" }, { over: "TLS" }])(
  "our HTTP/2 passes all that h2spec asks of a server, over $over",
  { timeout: 60_000 },
  async ({ over }) => {
    const connections = new Set<Http2Connection>();
    const answers = newWaiting().grpc_answers;
    const server = createServer((socket) => {
      const connection = new Http2Connection(socket, {
        limits: LIMITS,
        answers,
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
    await using tls = over === "TLS" ? await secured() : undefined;
    const front = frontOf(server, { pair: tls?.pair, protocols: ["h2"] });
    front.listen(0, "127.0.0.1");
    await once(front, "listening");
    const { port } = front.address() as AddressInfo;
    const flags = tls ? ["--tls", "--insecure"] : [];
    const child = spawn(H2SPEC, ["-h", "127.0.0.1", "-p", String(port), ...flags]);
    const [said] = await Promise.all([text(child.stdout), once(child, "exit")]);
    for (const connection of connections) connection.destroy();
    front.close();
    const failures = said.includes("Failures") ? said.slice(said.indexOf("Failures")) : "";
    expect(failures).toBe("");
    expect(said).toMatch(/145 tests, 145 passed, 0 skipped, 0 failed/);
  },
);
