/**
 * Every call that a daemon serves, as its doors were told: nothing is listed by hand, so a new
 * route, method, message or tool is here by itself.
 */
import type { DescMethod } from "@bufbuild/protobuf";
import { vi } from "vitest";
import { GrpcDoor } from "../../src/daemon/grpc-door.ts";
import { HttpDoor } from "../../src/daemon/http-door.ts";
import type { Mount } from "../../src/daemon/mount.ts";
import { operations } from "../../src/operations/table.ts";
import { LIVE } from "../../src/wires/api/live.ts";

export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly isLive?: boolean;
}

export interface Served {
  readonly http: readonly HttpCall[];
  /** Full paths: /agentkeeper.v1.TaskService/ClaimTask. */
  readonly grpc: readonly string[];
}

/** Begins to listen to what doors are told; to be called before the daemon is started. */
export function listenToDoors(): () => Served {
  const mounts = vi.spyOn(HttpDoor.prototype, "mount");
  const services = vi.spyOn(GrpcDoor.prototype, "add");
  return () => ({
    http: mounts.mock.calls.flatMap(([mount]) => httpCalls(mount)),
    grpc: services.mock.calls.flatMap(([service]) => service.methods.map(pathOf)),
  });
}

function httpCalls({ anybody, hot, swift, upgrades, routes = [] }: Mount): readonly HttpCall[] {
  const at = (method: string, paths: object = {}) =>
    Object.keys(paths).map((path) => ({ method, path }));
  return [
    ...at("GET", anybody),
    ...at("GET", hot),
    ...at("POST", swift),
    ...at("UPGRADE", upgrades),
    ...routes.map(({ method, path }) => ({ method: method === "ALL" ? "POST" : method, path })),
    ...routes.filter(({ path }) => LIVE_PATHS.has(path)).map(({ path }) => live(path)),
  ];
}

/** Operations that are told live, where the caller asks for it. */
const LIVE_PATHS = new Set(
  operations().flatMap(([name, { path }]) =>
    LIVE[name] ? [path.replaceAll(/\{(\w+)\}/g, ":$1")] : [],
  ),
);

function live(path: string): HttpCall {
  return { method: "GET", path, isLive: true };
}

function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}
