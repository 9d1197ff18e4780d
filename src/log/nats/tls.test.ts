/** Servers that are reached with TLS, and those that want credentials. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { lacks } from "../../../scripts/prerequisites.mjs";
import { put } from "../../../test/support/log/append.ts";
import { entriesAfter } from "../../../test/support/log/conformance-case.ts";
import { natsOperator } from "../../../test/support/nats/credentials.ts";
import { NatsCluster } from "../../../test/support/nats/server.ts";
import { authority, pairFor } from "../../../test/support/tls/pairs.ts";
import { codeOf } from "../../core/errors.ts";
import { natsStore, type NatsStoreOptions } from "./store.ts";

const hasServer = !lacks("nats");
const folder = mkdtempSync(join(tmpdir(), "rollcall-nats-tls-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(
  name: string,
  pair: ReturnType<typeof pairFor>,
): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  writeFileSync(cert, pair.cert);
  writeFileSync(key, pair.key, { mode: 0o600 });
  return { cert, key };
}

const ca = authority();
const { cert: tlsca } = written("ca", ca);
const server = written("server", pairFor(["127.0.0.1"], { issuer: ca }));
const elsewhere = written("elsewhere", pairFor(["nats.example"], { issuer: ca }));
const client = written("client", pairFor(["member"], { issuer: ca }));
const stranger = written("stranger", pairFor(["member"], { issuer: authority("another") }));

function tls({ cert, key }: { readonly cert: string; readonly key: string }, more = ""): string {
  return `tls { cert_file: "${cert}", key_file: "${key}", ${more} }`;
}

function parameters(given: Readonly<Record<string, string>>): string {
  return `?${new URLSearchParams({ tls: "require", ...given }).toString()}`;
}

/** Writes and reads, or rejects. */
async function used(url: string, options: Partial<NatsStoreOptions> = {}): Promise<string[]> {
  const store = natsStore({ url, replicas: 1, durability: "trust", ...options });
  onTestFinished(() => store.close());
  const { head } = await store.log.open();
  await put(store.log, { entries: ["secret"] }, head);
  return entriesAfter(store.log, head);
}

describe.skipIf(!hasServer)("a NATS server with TLS", () => {
  let servers: NatsCluster;

  beforeAll(async () => {
    servers = await NatsCluster.start({ servers: 1, more: tls(server) });
  }, 60_000);

  afterAll(() => servers.stop());

  test("is used where its authority is known", async () => {
    expect(await used(servers.url("known") + parameters({ tlsca }))).toEqual(["secret"]);
  });

  test("is refused at once where it is not, with the parameter that names it", async () => {
    const open = used(servers.url("unknown") + parameters({}));
    await expect(open).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(open).rejects.toThrow("its certificate is not trusted here: check tlsca");
    await expect(used(servers.url("off") + "?tls=off")).rejects.toThrow("certificate");
  });

  test("with a certificate for another name is refused", async () => {
    const other = await NatsCluster.start({ servers: 1, more: tls(elsewhere) });
    onTestFinished(() => other.stop());
    const open = used(other.url("name") + parameters({ tlsca }));
    await expect(open).rejects.toThrow("its certificate is not trusted here");
  });

  test("a file of the URL that cannot be read is named", async () => {
    const open = used(servers.url("none") + parameters({ tlsca: join(folder, "none.pem") }));
    await expect(open).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(open).rejects.toThrow("tlsca");
  });

  test("that wants certificates lets in whom its authority knows", async () => {
    const more = tls(server, `ca_file: "${tlsca}", verify: true`);
    const strict = await NatsCluster.start({ servers: 1, more });
    onTestFinished(() => strict.stop());
    const as = ({ cert, key }: typeof client) =>
      used(strict.url("mutual") + parameters({ tlsca, tlscert: cert, tlskey: key }));
    expect(await as(client)).toEqual(["secret"]);
    const without = used(strict.url("mutual") + parameters({ tlsca }));
    const codes = [as(stranger), without].map((each) => each.then(() => "let in", codeOf));
    expect(await Promise.all(codes)).toEqual(["UNAVAILABLE", "UNAVAILABLE"]);
  });
});

test("a server without TLS is refused before it hears the password", async () => {
  const heard: string[] = [];
  const plain = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => heard.push(bytes.toString()));
    const info = { server_id: "x", version: "2.15.0", max_payload: 8 << 20, headers: true };
    socket.write(`INFO ${JSON.stringify({ ...info, proto: 1 })}\r\n`);
  }).listen(0, "127.0.0.1");
  await once(plain, "listening");
  onTestFinished(() => void plain.close());
  const address = plain.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const credentials = () => Promise.resolve("hunter2");
  const open = used(`nats://me@127.0.0.1:${port}/x${parameters({ tlsca })}`, { credentials });
  await expect(open).rejects.toMatchObject({ code: "WRONG_STATE" });
  await expect(open).rejects.toThrow("has no TLS: configure it, or say ?tls=off");
  expect(heard.join("")).not.toContain("hunter2");
});

describe.skipIf(!hasServer)("a NATS server with an operator", () => {
  test("lets in the user of a file of credentials, and nobody else", async () => {
    const { configuration, credentials, strangerCredentials } = natsOperator();
    const servers = await NatsCluster.start({ servers: 1, more: configuration });
    onTestFinished(() => servers.stop());
    const as = (text: string) =>
      used(servers.url("creds"), { credentials: () => Promise.resolve(text) });
    expect(await as(credentials)).toEqual(["secret"]);
    for (const text of [strangerCredentials, "a password"]) {
      await expect(as(text)).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await expect(as(text)).rejects.toThrow("log_credentials_file");
    }
    const damaged = credentials.replace("SU", "SX");
    const broken = as(damaged);
    await expect(broken).rejects.toMatchObject({ code: expect.any(String) as string });
    await expect(broken).rejects.not.toThrow(/BEGIN|eyJ/);
  });
});
