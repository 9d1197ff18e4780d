import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { connectWith, type Dial } from "./connect.ts";
import { Fetcher } from "./fetcher.ts";
import { OUTSIDE } from "../../../test/support/fetch/fixture.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../../../test/support/fetch/tls.ts";

/** An agent at agent.example behind TLS, and a fetcher whose every way leads there. */
class SecureAgent implements AsyncDisposable {
  /** The names that callers have asked for, and the hosts of their requests. */
  readonly names: unknown[] = [];
  readonly hosts: unknown[] = [];
  readonly dialled: Dial[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, (request, response) => {
      this.hosts.push(request.headers.host);
      response.setHeader("content-type", "application/json").end("{}");
    });
    this.#server.on("tlsClientError", () => undefined);
    this.#server.on("connection", (socket) => socket.on("error", () => undefined));
    this.#server.on("secureConnection", ({ servername }) => this.names.push(servername));
  }

  async fetcher(ca?: string): Promise<Fetcher> {
    await new Promise<void>((resolve) => void this.#server.listen(0, "127.0.0.1", resolve));
    const { port } = this.#server.address() as AddressInfo;
    const connect = connectWith(ca);
    return new Fetcher({
      resolve: async () => [OUTSIDE],
      connect: async (dial) => {
        this.dialled.push(dial);
        return connect({ ...dial, address: "127.0.0.1", port });
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

test("TLS is opened to the address, for the name of the URL", async () => {
  await using agent = new SecureAgent();
  const fetcher = await agent.fetcher(TEST_CERTIFICATE);
  await expect(fetcher.text("https://agent.example/card")).resolves.toBe("{}");
  expect(agent.names).toEqual(["agent.example"]);
  expect(agent.hosts).toEqual(["agent.example"]);
  expect(agent.dialled).toMatchObject([{ address: OUTSIDE, port: 443, tlsHost: "agent.example" }]);
});

test.each([
  ["of a name that the certificate is not for", "https://other.example/", TEST_CERTIFICATE],
  ["of an address that it is not for", `https://${OUTSIDE}/`, TEST_CERTIFICATE],
  ["that nobody we trust has signed", "https://agent.example/", undefined],
])("nothing is sent to a host %s", async (_, url, ca) => {
  await using agent = new SecureAgent();
  const fetcher = await agent.fetcher(ca);
  await expect(fetcher.text(url)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(agent.dialled).toHaveLength(1);
  expect(agent.hosts).toEqual([]);
});
