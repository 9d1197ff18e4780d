/**
 * Three etcd servers on loopback, each with a folder and a disk sync of its own, and the one thing
 * that a log needs of them: "if the head is this one, put the next entries and the new head".
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client, credentials } from "@grpc/grpc-js";
import { percentile, type Measured } from "../measure.ts";
import type { AppendLoad } from "./commands.ts";

const SERVERS = 3;
const START_MS = 30_000;
const TXN = "/etcdserverpb.KV/Txn";

export class EtcdCluster {
  readonly #children: readonly ChildProcess[];
  readonly #clients: readonly number[];

  private constructor(children: readonly ChildProcess[], clients: readonly number[]) {
    this.#children = children;
    this.#clients = clients;
  }

  static async start(folder: string): Promise<EtcdCluster> {
    const ports = await freePorts(2 * SERVERS);
    const address = (index: number) => `http://127.0.0.1:${ports[index]}`;
    const names = Array.from({ length: SERVERS }, (_, index) => `e${index}`);
    const all = names.map((name, index) => `${name}=${address(SERVERS + index)}`).join(",");
    const children = names.map((name, index) => {
      const client = address(index);
      const peer = address(SERVERS + index);
      const place = ["--name", name, "--data-dir", join(folder, `etcd-${name}`)];
      const clients = ["--listen-client-urls", client, "--advertise-client-urls", client];
      const peers = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer];
      const args = [...place, ...clients, ...peers, "--initial-cluster", all];
      return spawn("etcd", args, { stdio: "ignore" });
    });
    const cluster = new EtcdCluster(children, ports.slice(0, SERVERS));
    await cluster.#ready();
    return cluster;
  }

  async #ready(): Promise<void> {
    for (const endMs = Date.now() + START_MS; Date.now() < endMs; await delay(100)) {
      const client = this.#connect();
      try {
        await transact(client, txn({ key: "ready", from: "", to: "", value: "yes" }));
        return;
      } catch {
        // It elects its leader.
      } finally {
        client.close();
      }
    }
    throw new Error("etcd does not start");
  }

  #connect(): Client {
    return new Client(`127.0.0.1:${this.#clients[0]}`, credentials.createInsecure());
  }

  /** As `appendRate` of a store. */
  async appendRate(key: string, { appends, batch }: AppendLoad): Promise<Measured> {
    const client = this.#connect();
    const value = Array.from({ length: batch }, (_, i) => `${i}`.padEnd(200, "x")).join("\n");
    const tookMs: number[] = [];
    await transact(client, txn({ key, from: "", to: "0", value: "" }));
    const beganMs = performance.now();
    for (let n = 0; n < appends; n += 1) {
      const startMs = performance.now();
      const isDone = await transact(client, txn({ key, from: `${n}`, to: `${n + 1}`, value }));
      if (!isDone) throw new Error(`etcd refused append ${n}`);
      tookMs.push(performance.now() - startMs);
    }
    const perSecond = (appends / (performance.now() - beganMs)) * 1000;
    client.close();
    return { perSecond, p50Ms: percentile(tookMs, 0.5), p99Ms: percentile(tookMs, 0.99) };
  }

  async stop(): Promise<void> {
    for (const child of this.#children) {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
  }
}

/** Whether it was written. */
function transact(client: Client, request: Buffer): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + 10_000 };
    client.makeUnaryRequest(
      TXN,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      request,
      options,
      (error, answer) => (error ? reject(error) : resolve(hasSucceeded(answer))),
    );
  });
}

interface HeadMove {
  readonly key: string;
  /** The head that is expected; empty: any. */
  readonly from: string;
  readonly to: string;
  readonly value: string;
}

const VALUE_TARGET = 3;

/** A TxnRequest: compare, then the puts of the entries and of the head. */
function txn({ key, from, to, value }: HeadMove): Buffer {
  const head = Buffer.from(`${key}/head`);
  const compare = Buffer.concat([
    Buffer.from([(2 << 3) | 0, VALUE_TARGET]),
    field(3, head),
    field(7, Buffer.from(from)),
  ]);
  const entries = put(Buffer.from(`${key}/${to.padStart(12, "0")}`), Buffer.from(value));
  const puts = [entries, put(head, Buffer.from(to))];
  return Buffer.concat([
    ...(from === "" ? [] : [field(1, compare)]),
    ...puts.map((each) => field(2, field(2, each))),
  ]);
}

function put(key: Buffer, value: Buffer): Buffer {
  return Buffer.concat([field(1, key), field(2, value)]);
}

function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)];
}

/** Field 2 of a TxnResponse, after its header. */
function hasSucceeded(answer: Buffer | undefined): boolean {
  if (!answer) return false;
  const afterHeader = 2 + (answer[1] ?? 0);
  return answer[afterHeader] === 2 << 3 && answer[afterHeader + 1] === 1;
}

async function freePorts(count: number): Promise<number[]> {
  const open = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(open.map((server) => once(server, "listening")));
  const ports = open.map((server) => {
    const address = server.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  await Promise.all(open.map((server) => once(server.close(), "close")));
  return ports;
}
