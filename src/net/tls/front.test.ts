import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { authority, looked, pairFolder, pairFor } from "../../../test/support/tls/pairs.ts";
import { TestClock } from "../../../test/support/engine/fixture.ts";
import { frontOf } from "./front.ts";
import { KeyPair } from "./pair.ts";
import { certificateAt } from "./server-certificate.ts";
import { connectTls, type ServerTrust } from "./trust.ts";

const cleanups: (() => unknown)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

const signer = authority();

/** A server that says what kind of connection it got, behind TLS. */
async function open(behind = greeter()) {
  const folder = pairFolder(pairFor(["localhost", "127.0.0.1"], { issuer: signer }));
  const { clientCa: _, ...files } = folder.files;
  const quiet = { onRenewal: () => undefined, onTrouble: () => undefined };
  const clock = new TestClock();
  const pair = await KeyPair.open({ files, clock, ...quiet });
  const front = frontOf(behind, { pair, protocols: ["h2"] });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const { port } = front.address() as AddressInfo;
  cleanups.push(
    () => folder[Symbol.dispose](),
    () => pair.close(),
    () => front.close(),
    () => behind.close(),
  );
  return { folder, pair, port, clock };
}

function greeter(): Server {
  return createServer((socket) => {
    socket.on("error", () => undefined);
    const kind = "encrypted" in socket ? "secret" : "plain";
    socket.once("data", (data: Buffer) => socket.end(`${kind} ${data.toString()}`));
  });
}

function dial(port: number, trust: ServerTrust): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    connectTls({ host: "127.0.0.1", port, protocol: "h2" }, trust, (error, socket) => {
      if (error) reject(error);
      else resolve(socket);
    });
  });
}

async function greet(port: number, trust: ServerTrust): Promise<string> {
  const socket = await dial(port, trust);
  socket.write("hello");
  return text(socket);
}

describe("a port with a key pair", () => {
  test("takes TLS and plain connections, told apart by their first byte", async () => {
    const { port } = await open();
    expect(await greet(port, { ca: signer.cert })).toBe("secret hello");
    const plain = connect(port, "127.0.0.1");
    plain.write("hello");
    expect(await text(plain)).toBe("plain hello");
  });

  test("agrees on the protocol that its server speaks", async () => {
    const { port } = await open();
    const socket = await dial(port, { ca: signer.cert });
    expect(socket.alpnProtocol).toBe("h2");
    socket.destroy();
    const other = { host: "127.0.0.1", port, protocol: "http/1.1" } as const;
    await expect(
      new Promise((resolve, reject) => {
        connectTls(other, { ca: signer.cert }, (error, made) =>
          error ? reject(error) : resolve(made),
        );
      }),
    ).rejects.toThrow(/no application protocol/);
  });

  test("gives new connections a renewed pair, while old ones go on", async () => {
    const { port, clock, folder } = await open();
    const old = await dial(port, { ca: signer.cert });
    const renewed = pairFor(["127.0.0.1"]);
    folder.put(renewed);
    await looked(clock);
    expect(await greet(port, { ca: renewed.cert })).toBe("secret hello");
    await expect(greet(port, { ca: signer.cert })).rejects.toThrow(/self-signed/);
    old.write("old");
    expect(await text(old)).toBe("secret old");
  });

  test("tells a server of HTTP that it listens, so that slow clients are cut", async () => {
    const behind = createHttp({ headersTimeout: 50, connectionsCheckingInterval: 20 });
    const { port } = await open(behind);
    const slow = connect(port, "127.0.0.1");
    slow.write("GET / HTTP/1.1\r\n");
    expect(await text(slow)).toContain("408");
  });
});

describe("a client", () => {
  test("refuses a server that no authority vouches for, or of another name", async () => {
    const { port, folder, clock } = await open();
    await expect(greet(port, {})).rejects.toThrow(/unable to verify|self-signed/);
    await expect(greet(port, { ca: authority("other").cert })).rejects.toThrow(/unable to verify/);
    folder.put(pairFor(["elsewhere.example"], { issuer: signer }));
    await looked(clock);
    await expect(greet(port, { ca: signer.cert })).rejects.toThrow(/does not match/);
  });

  test("takes the one certificate that it pins, and sends nothing to another", async () => {
    const { port, pair } = await open();
    const { fingerprint256 } = pair.certificate;
    const { signal } = new AbortController();
    expect(await certificateAt({ host: "127.0.0.1", port, signal })).toEqual({
      fingerprint: fingerprint256,
      problem: expect.stringContaining("no authority that is known here") as string,
    });
    for (const fingerprint of [fingerprint256, fingerprint256.replaceAll(":", "").toLowerCase()]) {
      expect(await greet(port, { fingerprint })).toBe("secret hello");
    }
    const wrong = fingerprint256.replace(/^../, (two) => (two === "00" ? "01" : "00"));
    await expect(greet(port, { fingerprint: wrong })).rejects.toThrow(
      `its certificate has the fingerprint ${fingerprint256}, not the one that is pinned`,
    );
  });
});
