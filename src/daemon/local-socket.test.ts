import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import * as grpc from "@grpc/grpc-js";
import { create } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test, vi } from "vitest";
import { anybodyHere, byRoles, openDoor } from "../../test/support/daemon/fixture.ts";
import { definitionOf } from "../../test/support/grpc/fixture.ts";
import {
  Health as HealthService,
  HealthCheckRequestSchema,
} from "../net/grpc/gen/grpc/health/v1/health_pb.ts";
import { Health } from "../net/grpc/health.ts";
import { CallRate } from "./call-rate.ts";
import { GrpcDoor } from "./grpc-door.ts";
import { ADMITTED, type Route } from "../wires/route.ts";
import { LocalSocket } from "./local-socket.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A socket as a daemon that was killed leaves it: nobody listens any more. */
async function leaveBehind(path: string): Promise<void> {
  const killed = createServer().listen(`${path}.old`);
  await once(killed, "listening");
  renameSync(`${path}.old`, path);
  await new Promise((closed) => killed.close(closed));
}

const BEHIND = { http: createServer(), grpc: createServer() };

async function open() {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-socket-"));
  const path = join(folder, "rollcall.sock");
  const { door: http } = await openDoor();
  const who: Route = {
    method: "GET",
    path: "/who",
    access: ADMITTED,
    handle: (c) => c.text(c.env.by.principal.name),
  };
  http.mount({ routes: [who] });
  const rpc = new GrpcDoor({
    authenticator: anybodyHere(),
    permit: byRoles,
    calls: new CallRate(0),
  });
  const health = new Health({ isServing: () => true, services: () => [], after: () => () => {} });
  rpc.add(HealthService, health.handlers, { accesses: ADMITTED });
  await leaveBehind(path);
  const socket = await LocalSocket.open(path, { http: http.listener, grpc: rpc.listener });
  cleanups.push(
    () => rmSync(folder, { recursive: true }),
    () => http.close(0),
    () => rpc.close(0),
    () => socket.close(),
  );
  return { path, socket };
}

function get(socketPath: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path: "/who", headers: { host } }, (response) => {
      text(response).then(resolve, reject);
    });
    call.on("error", reject).end();
  });
}

describe("the socket of a daemon", () => {
  test("is its user's alone, and takes the place of one that was left behind", async () => {
    const { path } = await open();
    const found = statSync(path);
    expect(found.isSocket()).toBe(true);
    expect(found.mode & 0o777).toBe(0o600);
  });

  test("is its user's alone from the first moment, whatever the umask", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rollcall-socket-"));
    const path = join(folder, "rollcall.sock");
    const before = process.umask(0);
    const modes: number[] = [];
    const watcher = watch(folder, () => {
      if (existsSync(path)) modes.push(statSync(path).mode & 0o777);
    });
    cleanups.push(
      () => process.umask(before),
      () => rmSync(folder, { recursive: true }),
      () => watcher.close(),
    );
    const opening = LocalSocket.open(path, BEHIND);
    await vi.waitFor(() => expect(existsSync(path)).toBe(true), { interval: 0 });
    modes.push(statSync(path).mode & 0o777);
    const socket = await opening;
    expect(new Set(modes)).toEqual(new Set([0o600]));
    expect(process.umask(0)).toBe(0);
    socket.close();
  });

  test("does not take the place of a file, nor of a program that listens", async () => {
    const { path } = await open();
    await expect(LocalSocket.open(path, BEHIND)).rejects.toThrow("another program listens there");
    expect(await get(path, "x")).toBe("local");
    const file = `${path}.txt`;
    writeFileSync(file, "precious");
    await expect(LocalSocket.open(file, BEHIND)).rejects.toThrow(
      /there is a file that is no socket; choose another with --socket PATH/,
    );
    expect(readFileSync(file, "utf8")).toBe("precious");
  });

  test("serves HTTP to the owner, under any name", async () => {
    const { path } = await open();
    expect(await get(path, "whatever.example")).toBe("local");
  });

  test("serves gRPC as well", async () => {
    const { path } = await open();
    const client = new grpc.Client(`unix:${path}`, grpc.credentials.createInsecure());
    cleanups.push(() => client.close());
    const check = definitionOf(HealthService)["Check"];
    if (!check) throw new Error("no method Check");
    const { path: method, requestSerialize, responseDeserialize } = check;
    const asked = create(HealthCheckRequestSchema, { service: "" });
    const status = await new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        method,
        requestSerialize,
        responseDeserialize,
        asked,
        (error, reply) => (error ? reject(error) : resolve((reply as { status: number }).status)),
      );
    });
    expect(status).toBe(1);
  });

  test("waits for as many bytes as tell the two apart", async () => {
    const { path } = await open();
    const client = connect(path);
    cleanups.push(() => client.destroy());
    client.write("P");
    await new Promise((resolve) => setImmediate(resolve));
    client.write("OST /who HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    expect(await text(client)).toMatch(/^HTTP\/1\.1 404 /);
  });

  test("is gone when the daemon closes it", async () => {
    const { path, socket } = await open();
    socket.close();
    await expect(get(path, "x")).rejects.toMatchObject({ code: "ENOENT" });
  });
});
