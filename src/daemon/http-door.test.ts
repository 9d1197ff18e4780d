import { createHash } from "node:crypto";
import { afterEach, describe, expect, test, vi } from "vitest";
import { RollcallError } from "../core/errors.ts";
import { CallRate } from "./call-rate.ts";
import type { HttpDoorOptions } from "./http-door.ts";
import type { HotHandler, Mount } from "./mount.ts";
import { ADMITTED, type Route } from "../wires/route.ts";
import { LOCAL } from "../core/principals.ts";
import type { Caller } from "../identity/caller.ts";
import { ask, openDoor, say, STRANGER, type OpenDoor } from "../../test/support/daemon/fixture.ts";
import { daemonAgent } from "../net/http/agent.ts";
import { HTTP_CLIENT } from "../net/http/limits.ts";
import { HTTP_LIMITS } from "./limits.ts";

const doors: OpenDoor[] = [];

afterEach(async () => {
  await Promise.all(doors.splice(0).map(({ door }) => door.close(0)));
});

async function open(options: Partial<HttpDoorOptions> = {}, mount?: Mount): Promise<OpenDoor> {
  const opened = await openDoor(options);
  doors.push(opened);
  const hello = route("GET", "/hello", (c) => c.text("hello"));
  const echo = route("POST", "/echo", async (c) =>
    c.text(String((await c.req.arrayBuffer()).byteLength)),
  );
  opened.door.mount(mount ?? { routes: [hello, echo] });
  return opened;
}

function route(method: Route["method"], path: string, handle: Route["handle"]): Route {
  return { method, path, access: ADMITTED, handle };
}

function errorOf(body: string): unknown {
  return (JSON.parse(body) as { error: unknown }).error;
}

describe("the name it is called by", () => {
  test("is one of this machine, with the very port", async () => {
    const { port } = await open();
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
      expect(await ask(port, "/hello", { headers: { host } })).toMatchObject({ status: 200 });
    }
    expect((await ask(port, "/hello", { headers: { host: `LocalHost:${port}` } })).status).toBe(
      200,
    );
  });

  test.each(["evil.example", "evil.example:PORT", "localhost", "localhost:1", "localhost.:PORT"])(
    "%s is refused: a page may have made its own name point here",
    async (name) => {
      const { port } = await open();
      const host = name.replace("PORT", String(port));
      const { status, body } = await ask(port, "/hello", { headers: { host } });
      expect(status).toBe(403);
      expect(errorOf(body)).toMatchObject({ code: "PERMISSION_DENIED", retry: "never" });
      expect(body).toContain("is not a name of this daemon");
    },
  );

  test("may be one that was allowed, with or without the port", async () => {
    const { port } = await open({ allowedHosts: ["rollcall.local", "tunnel:8443"] });
    for (const host of ["rollcall.local", `rollcall.local:${port}`, "tunnel:8443"]) {
      expect((await ask(port, "/hello", { headers: { host } })).status).toBe(200);
    }
    expect((await ask(port, "/hello", { headers: { host: "tunnel" } })).status).toBe(403);
  });

  test("is wanted even of HTTP/1.0, and the target is a path", async () => {
    const { port } = await open();
    const old = say(port, "GET /hello HTTP/1.0\r\n\r\n");
    await old.closed;
    expect(old.heard).toContain("403");
    const host = `Host: localhost:${port}`;
    const absolute = say(port, `GET http://evil/hello HTTP/1.1\r\n${host}\r\n\r\n`);
    await vi.waitFor(() => expect(absolute.heard).toContain("the request target is not a path"));
    absolute.socket.destroy();
  });
});

describe("a web page", () => {
  test("of this very origin is answered", async () => {
    const { port } = await open();
    const headers = { origin: `http://127.0.0.1:${port}`, "sec-fetch-site": "same-origin" };
    expect((await ask(port, "/hello", { headers })).status).toBe(200);
  });

  test.each(["https://evil.example", "null", "http://localhost:PORT", "http://127.0.0.1:1", ""])(
    "of origin %j is refused",
    async (template) => {
      const { port } = await open();
      const origin = template.replace("PORT", String(port));
      const { status, body } = await ask(port, "/hello", { headers: { origin } });
      expect(status).toBe(403);
      expect(body).toContain("is not this daemon");
    },
  );

  test("elsewhere may link here, and nothing else", async () => {
    const { port } = await open();
    for (const site of ["cross-site", "same-site"]) {
      const image = { "sec-fetch-site": site, "sec-fetch-mode": "no-cors" };
      expect((await ask(port, "/hello", { headers: image })).status).toBe(403);
      const link = { "sec-fetch-site": site, "sec-fetch-mode": "navigate" };
      expect((await ask(port, "/hello", { headers: link })).status).toBe(200);
      const form = { headers: link, method: "POST" };
      expect((await ask(port, "/echo", form)).status).toBe(403);
    }
  });

  test("gets no preflight and no CORS header", async () => {
    const { port } = await open();
    const headers = { origin: `http://127.0.0.1:${port}` };
    const preflight = await ask(port, "/hello", { method: "OPTIONS", headers });
    expect(preflight.status).toBe(403);
    for (const answer of [preflight, await ask(port, "/hello", { headers })]) {
      const cors = Object.keys(answer.headers).filter((name) => name.startsWith("access-control"));
      expect(cors).toEqual([]);
    }
  });

  test("cannot frame, sniff or keep an answer, refusals included", async () => {
    const { port } = await open();
    for (const path of ["/hello", "/nope"]) {
      expect((await ask(port, path)).headers).toMatchObject({
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
      });
    }
  });
});

describe("a stranger", () => {
  test("from another machine is refused, and reads which address it came from", async () => {
    const { port } = await open({ peerOf: () => STRANGER });
    const { status, body } = await ask(port, "/hello");
    expect(status).toBe(403);
    expect(body).toContain("only this machine is answered: the call came from 192.0.2.7");
  });

  test("passed on by a proxy of this machine is refused as well", async () => {
    const { port } = await open();
    for (const name of ["x-forwarded-for", "forwarded"]) {
      const { status, body } = await ask(port, "/hello", { headers: { [name]: "for=192.0.2.7" } });
      expect(status).toBe(403);
      expect(body).toContain(`the call has the header ${name}: call the daemon without a proxy`);
    }
  });

  test("may be known to another authenticator, and routes learn who it is", async () => {
    const authenticator = { authenticate: async () => ({ ...LOCAL, name: "alice" }) };
    const me = route("GET", "/me", (c) => c.text(c.env.by.principal.name));
    const opened = await openDoor({ authenticator, peerOf: () => STRANGER });
    doors.push(opened);
    opened.door.mount({ routes: [me] });
    expect((await ask(opened.port, "/me")).body).toBe("alice");
  });
});

describe("what is too much", () => {
  const limits = { bodyBytes: 1000 };

  test("a body that says so is refused before it is read", async () => {
    const { port } = await open({ limits });
    const head = `POST /echo HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 1001\r\n\r\n`;
    const raw = say(port, head);
    await vi.waitFor(() => expect(raw.heard).toContain("the body has more than 1000 bytes"));
    expect(raw.heard).toContain("413");
    raw.socket.destroy();
  });

  test("a body that grows is refused while it comes", async () => {
    const { port } = await open({ limits });
    const head = `POST /echo HTTP/1.1\r\nHost: localhost:${port}\r\n`;
    const raw = say(port, `${head}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `1f4\r\n${"x".repeat(500)}\r\n`;
    raw.socket.write(chunk + chunk + chunk);
    await vi.waitFor(() => expect(raw.heard).toContain("the body has more than 1000 bytes"));
    raw.socket.destroy();
  });

  test("a body that fits is taken, announced or not", async () => {
    const { port } = await open({ limits });
    const body = "x".repeat(1000);
    expect((await ask(port, "/echo", { method: "POST", body })).body).toBe("1000");
    const headers = { "transfer-encoding": "chunked" };
    expect((await ask(port, "/echo", { method: "POST", body, headers })).body).toBe("1000");
  });

  test("who asks before sending hears the refusal, or that it may go on", async () => {
    const { port } = await open({ limits });
    const head = `POST /echo HTTP/1.1\r\nHost: localhost:${port}\r\nExpect: 100-continue\r\n`;
    const refused = say(port, `${head}Content-Length: 5000\r\n\r\n`);
    await vi.waitFor(() => expect(refused.heard).toMatch(/^HTTP\/1.1 413/));
    const welcome = say(port, `${head}Content-Length: 3\r\n\r\n`);
    await vi.waitFor(() => expect(welcome.heard).toMatch(/^HTTP\/1.1 100/));
    welcome.socket.write("abc");
    await vi.waitFor(() => expect(welcome.heard).toContain("200 OK"));
    refused.socket.destroy();
    welcome.socket.destroy();
  });

  test("headers too many or too large are refused", async () => {
    const { port } = await open();
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, "1"]));
    expect(await ask(port, "/hello", { headers: many })).toMatchObject({ status: 413 });
    const large = { "x-large": "x".repeat(17_000) };
    expect((await ask(port, "/hello", { headers: large })).status).toBe(431);
  });

  test("headers that take too long end the connection", async () => {
    const { port } = await open({ limits: { headersMs: 100, checkMs: 20 } });
    const raw = say(port, "GET /hello HTTP/1.1\r\nHost: local");
    await raw.closed;
    expect(raw.heard).toContain("408");
  });

  test("a request that never ends is cut", async () => {
    const { port } = await open({ limits: { requestMs: 150, headersMs: 100, checkMs: 20 } });
    const raw = say(
      port,
      `POST /echo HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 9\r\n\r\nx`,
    );
    await raw.closed;
    expect(raw.heard).not.toContain("200");
  });

  test("connections that say nothing give way where there are too many", async () => {
    const { port } = await open({ limits: { connections: 2 } });
    const [first, second] = [say(port, "GET"), say(port, "GET")];
    await vi.waitFor(() => expect(second.socket.readyState).toBe("open"));
    const third = say(port, "GET");
    await first.closed;
    for (const { socket } of [second, third]) socket.destroy();
  });

  test("connections of one principal beyond its share are refused", async () => {
    const ci = { ...LOCAL, name: "token:ci" };
    const authenticator = { authenticate: () => ci };
    const { port } = await open({ limits: { connections: 2 }, authenticator });
    const call = `GET /hello HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`;
    const first = say(port, call);
    await vi.waitFor(() => expect(first.heard).toContain("200 OK"));
    const second = say(port, call);
    await vi.waitFor(() => expect(second.heard).toContain("429"));
    expect(second.heard).toContain(
      "token:ci already has 1 connections: its share of the limit 2 is 1",
    );
    for (const { socket } of [first, second]) socket.destroy();
  });

  test("requests beyond the rate are told when to come back", async () => {
    let nowMs = 0;
    const { door, port } = await open({ calls: new CallRate(2, () => nowMs) });
    for (let i = 0; i < 4; i += 1) expect((await ask(port, "/hello")).status).toBe(200);
    const refused = await ask(port, "/hello");
    expect(refused.status).toBe(429);
    expect(refused.headers["retry-after"]).toBe("1");
    expect(errorOf(refused.body)).toMatchObject({ code: "LIMIT_EXCEEDED", retry: "later" });
    expect(door.stats.refusals.get("LIMIT_EXCEEDED")).toBe(1);
    expect(refused.body).toContain("local makes too many requests; see rate_limit");
    nowMs = 1000;
    expect((await ask(port, "/hello")).status).toBe(200);
  });

  test("the rate of one principal is not that of another, on one address", async () => {
    const authenticator = {
      authenticate: (caller: Caller) => ({ ...LOCAL, name: caller.header("x-name") ?? "local" }),
    };
    const { port } = await open({ calls: new CallRate(1, () => 0), authenticator });
    const by = async (name: string) =>
      (await ask(port, "/hello", { headers: { "x-name": name } })).status;
    expect([await by("a"), await by("a"), await by("a")]).toEqual([200, 200, 429]);
    expect([await by("b"), await by("b"), await by("b")]).toEqual([200, 200, 429]);
  });
});

describe("what a wire throws", () => {
  test("is a refusal with its code; a fault of ours keeps its details to the log", async () => {
    const secret = new Error("the password is hunter2");
    const routes = [
      route("GET", "/gone", () => {
        throw new RollcallError("OUT_OF_RANGE", "the log begins at 7");
      }),
      route("GET", "/broken", () => {
        throw secret;
      }),
    ];
    const hot = () => {
      throw secret;
    };
    const mount: Mount = { routes, hot: { "/hot": { access: ADMITTED, handle: hot } } };
    const { port, faults } = await open({}, mount);
    const gone = await ask(port, "/gone");
    expect(gone.status).toBe(410);
    expect(errorOf(gone.body)).toEqual({
      code: "OUT_OF_RANGE",
      message: "the log begins at 7",
      retry: "never",
    });
    for (const path of ["/broken", "/hot"]) {
      const { status, body } = await ask(port, path);
      expect(status).toBe(500);
      expect(body).not.toContain("hunter2");
    }
    expect(faults).toEqual([secret, secret]);
  });
});

describe("a WebSocket", () => {
  const mount: Mount = {
    upgrades: {
      "/ws": {
        access: ADMITTED,
        handle({ request, socket, by }) {
          const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
          const accept = createHash("sha1").update(key).digest("base64");
          socket.write(
            `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
              `Sec-WebSocket-Accept: ${accept}\r\nX-Who: ${by.principal.name}\r\n\r\n`,
          );
        },
      },
    },
  };
  const handshake = (host: string, path = "/ws", more = "") =>
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
    `Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n${more}\r\n`;

  test("is handed over with who it is, and cut when the door closes", async () => {
    const { door, port } = await open({}, mount);
    const raw = say(port, handshake(`localhost:${port}`, "/ws?x=1"));
    await vi.waitFor(() => expect(raw.heard).toContain("X-Who: local"));
    await door.close(10);
    await raw.closed;
  });

  test("passes the same gate as every request", async () => {
    const { port } = await open({}, mount);
    const rebound = say(port, handshake("evil.example"));
    const foreign = say(port, handshake(`localhost:${port}`, "/ws", "Origin: http://evil\r\n"));
    const nowhere = say(port, handshake(`localhost:${port}`, "/nope"));
    await Promise.all([rebound.closed, foreign.closed, nowhere.closed]);
    expect(rebound.heard).toMatch(/^HTTP\/1.1 403[^]*is not a name of this daemon/);
    expect(foreign.heard).toMatch(/^HTTP\/1.1 403[^]*is not this daemon/);
    expect(nowhere.heard).toMatch(/^HTTP\/1.1 404[^]*nothing to upgrade at \/nope/);
  });
});

describe("closing", () => {
  test("lets an answer under way finish, and cuts what does not", async () => {
    const release: (() => void)[] = [];
    const handle: HotHandler = (_, response) => void release.push(() => response.end("done"));
    const hot = { "/slow": { access: ADMITTED, handle } } as const;
    const { door, port } = await open({}, { hot });
    const finishing = ask(port, "/slow");
    const hanging = ask(port, "/slow").catch((error: unknown) => error);
    await vi.waitFor(() => expect(release).toHaveLength(2));
    const closed = door.close(200);
    release[0]?.();
    expect((await finishing).body).toBe("done");
    await closed;
    expect(await hanging).toBeInstanceOf(Error);
    await expect(ask(port, "/slow")).rejects.toThrow("ECONNREFUSED");
  });
});

test("our clients let a connection go well before the door closes it", () => {
  const agent = daemonAgent({ url: "http://127.0.0.1:1" });
  expect(agent).toMatchObject({ options: { keepAlive: true, timeout: HTTP_CLIENT.idleMs } });
  expect(HTTP_CLIENT.idleMs).toBeLessThan(HTTP_LIMITS.idleMs / 2);
});
