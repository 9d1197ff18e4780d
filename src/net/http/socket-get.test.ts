import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { getBySocket } from "./socket-get.ts";

let folder: string;
let server: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rollcall-"));
});

afterEach(() => {
  server?.close();
  rmSync(folder, { recursive: true });
});

const url = new URL("http://127.0.0.1:9090/v1/fleet?limit=1");

/** Says this, and hangs up; the request of the caller. */
async function ask(answer: string | ((socket: Socket) => void)) {
  const socket = join(folder, "s");
  let asked = "";
  server = createServer((connection) => {
    connection.on("error", () => undefined);
    connection.once("data", (data) => {
      asked = String(data);
      if (typeof answer === "string") connection.end(answer);
      else answer(connection);
    });
  }).listen(socket);
  await once(server, "listening");
  return { body: await getBySocket({ socket, url, token: "rc_1" }), asked };
}

test("a good answer is its body, whatever letters that has", async () => {
  const { body, asked } = await ask('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{"é":1}');
  expect(body).toBe('{"é":1}');
  expect(asked).toBe(
    "GET /v1/fleet?limit=1 HTTP/1.0\r\nHost: 127.0.0.1:9090\r\nAuthorization: Bearer rc_1\r\n\r\n",
  );
});

test.each([
  ["a refusal", "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\n{}"],
  ["one that was cut off", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}"],
  ["one that was cut off in its head", "HTTP/1.1 200 OK\r\nContent-Le"],
  ["one that does not say how long it is", "HTTP/1.1 200 OK\r\n\r\n{}"],
  ["no HTTP", "hello"],
  ["nothing", ""],
])("%s is none", async (_, answer) => {
  expect((await ask(answer)).body).toBeUndefined();
});

test("a connection that breaks, and a socket that is not there, give none", async () => {
  expect((await ask((connection) => void connection.destroy())).body).toBeUndefined();
  const socket = join(folder, "nowhere");
  expect(await getBySocket({ socket, url })).toBeUndefined();
});

test("a daemon that says nothing is not waited for", async () => {
  expect((await ask(() => undefined)).body).toBeUndefined();
});
