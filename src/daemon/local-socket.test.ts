import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import * as grpc from "@grpc/grpc-js";
import { create } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "vitest";
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
  rpc.add(HealthService, health.handlers);
  // As a daemon that was killed left it.
  writeFileSync(path, "");
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
