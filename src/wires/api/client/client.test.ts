import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { codeOf } from "../../../core/errors.ts";
import { connect, type Client } from "./client.ts";

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    await new Promise((resolve) => server.close(resolve).closeAllConnections());
  }
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

async function daemon(handler: Handler): Promise<Client> {
  const server = createServer((request, response) => void handler(request, response));
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  return connect({ url: `http://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}` });
}

describe("an answer that drips", () => {
  beforeEach(() => {
    // Of Node's own timers none is faked: the connection is real.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  test("is cut after 20 seconds, however often a byte comes", async () => {
    let drip: NodeJS.Immediate | undefined;
    const client = await daemon((_request, response) => {
      const next = () => {
        response.write(" ");
        vi.advanceTimersByTime(100);
        drip = setImmediate(next);
      };
      next();
      response.on("close", () => clearImmediate(drip));
    });
    const answer = client.get("/v1/x").catch((error: unknown) => error);
    expect(codeOf(await answer)).toBe("UNAVAILABLE");
    expect(String(await answer)).toContain("did not end within 20000 ms");
    client.close();
  });

  test("is cut after 10 seconds where even its head does", async () => {
    const client = await daemon((request) => {
      request.socket.write("HTTP/1.1 200 OK\r\nx: y", () => void vi.advanceTimersByTime(10_000));
    });
    await expect(client.get("/v1/x")).rejects.toThrow("sent no answer");
    client.close();
  });
});

describe("post", () => {
  test("sends JSON and gives the answer", async () => {
    const client = await daemon(async (request, response) => {
      const { method, url, headers } = request;
      const heard = { method, url, type: headers["content-type"], body: await text(request) };
      response.end(JSON.stringify(heard));
    });
    expect(await client.post("/v1/x", { a: "ü" })).toEqual({
      method: "POST",
      url: "/v1/x",
      type: "application/json",
      body: '{"a":"ü"}',
    });
    expect(await client.get("/v1/x")).toEqual({ method: "GET", url: "/v1/x", body: "" });
    client.close();
  });

  test("rejects with the daemon's refusal", async () => {
    const error = { code: "NOT_HOLDER", message: "not yours", retry: "never" };
    const client = await daemon((_request, response) => {
      response.writeHead(403).end(JSON.stringify({ error }));
    });
    await expect(client.post("/v1/x", {})).rejects.toMatchObject({
      code: "NOT_HOLDER",
      message: "not yours",
    });
    client.close();
  });

  test("that is given up ends its connection, so that nothing is done for nobody", async () => {
    let isGone = false;
    const client = await daemon((_request, response) => {
      response.on("close", () => (isGone = true));
      giveUp.abort();
    });
    const giveUp = new AbortController();
    const waiting = client.post("/v1/x", {}, { waitMs: 60_000, signal: giveUp.signal });
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
    await vi.waitFor(() => expect(isGone).toBe(true));
    client.close();
  });

  test("is told when what answers is not rollcall", async () => {
    const client = await daemon((_request, response) => void response.end("[1]"));
    const answer = client.post("/v1/x", {});
    await expect(answer).rejects.toMatchObject({ code: "INCOMPATIBLE" });
    await expect(answer).rejects.toThrow("this is no rollcall, or another version");
    client.close();
  });
});
