/** The HTTP door over TLS, called by clients of HTTP/2 that are not ours. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect, constants, type ClientHttp2Session } from "node:http2";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { openDoor, type OpenDoor } from "../../test/support/daemon/fixture.ts";
import { pairFolder, pairFor } from "../../test/support/tls/pairs.ts";
import { systemClock } from "../machine/clock.ts";
import { KeyPair } from "../net/tls/pair.ts";
import { newWaiting } from "../net/waiting.ts";
import { SseStreams, type Frames, type SseSource } from "../wires/api/sse.ts";
import { ADMITTED, type Route } from "../wires/route.ts";

const folder = pairFolder(pairFor(["127.0.0.1"]));
const waiting = newWaiting();
const streams = new SseStreams({ answers: waiting.http_answers });
const sent: ((frame: Buffer) => void)[] = [];
let pair: KeyPair;
let opened: OpenDoor;

beforeAll(async () => {
  const { cert, key } = folder.files;
  const quiet = { onRenewal: () => undefined, onTrouble: () => undefined };
  pair = await KeyPair.open({ files: { cert, key }, clock: systemClock, ...quiet });
  opened = await openDoor({ pair, waiting });
  opened.door.mount({
    anybody: { "/healthz": () => ({ status: 200, headers: [], body: "ok" }) },
    routes: [
      route("GET", "/hello", (c) => c.text(`hello ${c.env.by.principal.name}`)),
      route("POST", "/echo", async (c) => c.text(await c.req.text())),
      route("GET", "/large", (c) => c.text("x".repeat(3_000_000))),
    ],
    hot: {
      "/events": {
        access: ADMITTED,
        handle: (_, response, by) => streams.send(response, { by, start: source }),
      },
    },
  });
});

afterAll(async () => {
  await opened.door.close(0);
  pair.close();
  folder[Symbol.dispose]();
});

function route(method: Route["method"], path: string, handle: Route["handle"]): Route {
  return { method, path, access: ADMITTED, handle };
}

/** What the test sends, until the client is gone. */
function source(): SseSource {
  const gone = new AbortController();
  const closed = once(gone.signal, "abort").then(() => undefined);
  async function* frames(): Frames {
    for (;;) {
      const next = new Promise<Buffer>((resolve) => sent.push(resolve));
      const frame = await Promise.race([closed, next]);
      if (!frame) return false;
      yield frame;
    }
  }
  return { frames: frames(), close: () => gone.abort() };
}

function dial(): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${opened.port}`, { rejectUnauthorized: false });
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

test("curl is answered by HTTP/2 where it asks for it, and by HTTP/1.1 where not", async () => {
  const url = `https://127.0.0.1:${opened.port}/hello`;
  const curl = async (...flags: readonly string[]) => {
    const format = ["--silent", "--insecure", "--write-out", " %{http_version} %{http_code}"];
    return (await promisify(execFile)("curl", [...format, ...flags, url])).stdout;
  };
  expect(await curl("--http2")).toBe("hello local 2 200");
  expect(await curl("--http1.1")).toBe("hello local 1.1 200");
});

test("many requests go by one connection, with bodies and refusals", async () => {
  const session = dial();
  const ask = async (path: string, body?: string) => {
    const method = body === undefined ? "GET" : "POST";
    const stream = session.request({ ":path": path, ":method": method });
    stream.end(body);
    const [headers] = (await once(stream, "response")) as [Record<string, string | number>];
    return { status: headers[":status"], headers, body: await text(stream) };
  };
  const body = "x".repeat(300_000);
  const answers = await Promise.all([
    ask("/hello"),
    ask("/echo", body),
    ask("/nope"),
    ask("/healthz"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200]);
  expect(answers[1].body).toBe(body);
  expect(answers[2].body).toContain("NOT_FOUND");
  for (const { headers } of answers) expect(headers["x-frame-options"]).toBe("DENY");
  expect(await ask("/echo", "x".repeat(2_000_000))).toMatchObject({ status: 413 });
  expect(await ask("/hello")).toMatchObject({ status: 200 });
});

test("a name that is not the daemon's is refused", async () => {
  const stream = dial().request({ ":path": "/hello", ":authority": "evil.example" });
  const [headers] = (await once(stream, "response")) as [Record<string, number>];
  expect(headers[":status"]).toBe(403);
});

test("events are streamed as they come", async () => {
  const stream = dial().request({ ":path": "/events" });
  let heard = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => (heard += chunk));
  for (const word of ["one", "two"]) {
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    sent.pop()?.(Buffer.from(`data: ${word}\n\n`));
    await vi.waitFor(() => expect(heard).toContain(`data: ${word}`));
  }
  stream.close(constants.NGHTTP2_CANCEL);
  await vi.waitFor(() => expect(streams.open).toBe(0));
});

test("an answer that is not read is counted", async () => {
  const session = dial();
  const stream = session.request({ ":path": "/large" });
  stream.pause();
  await vi.waitFor(() => expect(waiting.http_answers.bytes).toBeGreaterThan(1_000_000));
  stream.resume();
  await vi.waitFor(() => expect(waiting.http_answers.bytes).toBe(0));
});

test("closing lets a request under way finish", async () => {
  const other = await openDoor({ pair });
  let finish: () => void = () => undefined;
  const slow = route("GET", "/slow", (c) => {
    return new Promise((resolve) => (finish = () => resolve(c.text("done"))));
  });
  other.door.mount({ routes: [slow] });
  const session = connect(`https://127.0.0.1:${other.port}`, { rejectUnauthorized: false });
  const stream = session.request({ ":path": "/slow" });
  const answer = text(stream);
  await vi.waitFor(() => expect(other.door.stats.requests).toBe(1));
  const closed = other.door.close(5_000);
  finish();
  expect(await answer).toBe("done");
  await closed;
});
