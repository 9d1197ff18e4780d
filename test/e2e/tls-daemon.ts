/** A daemon with TLS on every port, for tests of clients with tokens. */
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { tlsFiles, type TlsFiles } from "../support/tls-files.ts";
import { run, scratch, start, type Running } from "./programs.ts";

export interface TlsDaemon {
  readonly up: Running;
  readonly url: string;
  /** HOST:PORT. */
  readonly grpc: string;
  readonly tls: TlsFiles;
  /** Where it keeps its state, and a folder around it. */
  readonly data: string;
  readonly folder: string;
  /** A command of its own user, by its socket. */
  owner(...args: readonly string[]): ReturnType<typeof run>;
  /** The secret of a new token. */
  create(name: string, role: string, ...flags: readonly string[]): Promise<string>;
}

export async function tlsDaemon(...flags: readonly string[]): Promise<TlsDaemon> {
  const home = scratch();
  const tls = tlsFiles(home.path);
  const data = join(home.path, "daemon");
  const doors = ["--addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--data-dir", data];
  const files = ["--tls-cert", tls.certFile, "--tls-key", tls.keyFile, "--no-status-files"];
  const up = start(["up", ...doors, ...files, ...flags]);
  onTestFinished(async () => {
    await up[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });
  const [, url = "", grpc = ""] = await up.says(/HTTP +(https:\S+)\n +gRPC +(\S+)[^]*TLS/);
  const owner = (...args: readonly string[]) => run(args, { env: { ROLLCALL_DATA_DIR: data } });
  const create = async (name: string, role: string, ...more: readonly string[]) => {
    const { code, stdout, stderr } = await owner("tokens", "create", name, "--role", role, ...more);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout.trim();
  };
  return { up, url, grpc, tls, data, folder: home.path, owner, create };
}
