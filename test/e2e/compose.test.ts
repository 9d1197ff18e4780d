/**
 * The Compose files as users start them, without Docker: each service is a process on a machine of
 * its own (a network namespace), by its own command and with its own configuration. Only paths are
 * others, and the images are the programs of this machine.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parse } from "yaml";
import { lacks, NATS_SERVER } from "../../scripts/prerequisites.mjs";
import { PostgresServer } from "../support/postgres/server.ts";
import { authority, pairFor } from "../support/tls/pairs.ts";
import { network, type Network } from "./network.ts";
import { scratch, type Running } from "./programs.ts";

vi.setConfig({ testTimeout: 120_000 });

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs?: Readonly<Record<string, { readonly content: string }>>;
}

interface Service {
  readonly command?: string;
  readonly restart?: string;
}

interface Stage {
  readonly compose: Compose;
  readonly lan: Network;
  /** Where a path of a container of this service is. */
  readonly here: (text: string, service: string) => string;
  readonly folder: string;
}

const MEMBERS = ["box-1", "box-2", "box-3"];

/** The files that the head of a Compose file asks for, and its machines. */
async function stage(name: string): Promise<Stage> {
  const { path: folder, [Symbol.dispose]: dispose } = scratch();
  onTestFinished(dispose);
  const text = readFileSync(new URL(`../../examples/compose/${name}`, import.meta.url), "utf8");
  const compose = parse(text, { merge: true }) as Compose;
  const put = (file: string, content: string) => {
    writeFileSync(join(folder, "certs", file), content, { mode: 0o600 });
  };
  mkdirSync(join(folder, "certs"));
  const [ca, natsCa] = [authority("members"), authority("nats")];
  put("ca.pem", ca.cert);
  put("nats-ca.pem", natsCa.cert);
  const pairs = [
    ...MEMBERS.map((member) => [member, pairFor([member], { issuer: ca })] as const),
    ["nats", pairFor(["nats-1", "nats-2", "nats-3"], { issuer: natsCa })] as const,
    ["client", pairFor(["client"], { issuer: natsCa })] as const,
  ];
  for (const [file, { cert, key }] of pairs) {
    put(`${file}.pem`, cert);
    put(`${file}.key`, key);
  }
  writeFileSync(join(folder, "password"), "hunter2\n");
  const lan = await network(Object.keys(compose.services), folder);
  onTestFinished(() => lan[Symbol.dispose]());
  const here = (words: string, service: string) =>
    words
      .replaceAll("/certs/", `${folder}/certs/`)
      .replaceAll("/run/secrets/", `${folder}/`)
      .replaceAll(/(?<![\w/])\/(state|data|nats\.conf)\b/g, `${folder}/${service}/$1`);
  return { compose, lan, here, folder };
}

/** As the engine keeps it: it starts one again that failed, as the file says. */
class Container {
  readonly #start: () => Running;
  #running: Running;
  #isOver = false;

  constructor(start: () => Running, mayRestart: boolean) {
    this.#start = start;
    this.#running = start();
    if (mayRestart) void this.#keep();
    onTestFinished(() => this.#end());
  }

  async #keep(): Promise<void> {
    const { code } = await this.#running.end(600_000);
    if (code === 0 || this.#isOver) return;
    this.#running = this.#start();
    await this.#keep();
  }

  stop(): void {
    this.#running.signal("SIGTERM");
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    await this.#running[Symbol.asyncDispose]();
  }
}

function startMembers({ compose, lan, here }: Stage): ReadonlyMap<string, Container> {
  const started = MEMBERS.map((name) => {
    const { command = "", restart } = compose.services[name] ?? {};
    const [program = "", ...args] = here(command, name).trim().split(/\s+/);
    const start = () => lan.of(name).node(program, [...args, "--no-status-files"]);
    return [name, new Container(start, restart === "on-failure")] as const;
  });
  return new Map(started);
}

/** What the probe of each hears from another machine. */
async function readiness({ lan, folder }: Stage, names: readonly string[]): Promise<string[]> {
  const asked = names.map(async (name) => {
    const ca = ["--silent", "--cacert", `${folder}/certs/ca.pem`];
    const curl = lan.of("box-1").spawn("curl", [...ca, `https://${name}:9090/readyz`]);
    return (await curl.end()).stdout;
  });
  return (await Promise.all(asked)).toSorted();
}

const READY = ["ready, following", "ready, following", "ready, leading"];

/** They find each other and the store, one leads, and another one when that one is stopped. */
async function expectCluster(set: Stage): Promise<void> {
  const members = startMembers(set);
  await untilReady(set, MEMBERS, READY);
  const states = await Promise.all(MEMBERS.map((name) => readiness(set, [name])));
  const leader = MEMBERS[states.findIndex(([state]) => state === "ready, leading")] ?? "";
  members.get(leader)?.stop();
  await untilReady(
    set,
    MEMBERS.filter((name) => name !== leader),
    READY.slice(1),
  );
}

async function untilReady(
  set: Stage,
  names: readonly string[],
  states: readonly string[],
): Promise<void> {
  const patience = { timeout: 60_000, interval: 250 };
  await vi.waitFor(async () => expect(await readiness(set, names)).toEqual(states), patience);
}

const canRun = process.getuid?.() === 0 && !lacks("ip") && !lacks("curl");

describe.skipIf(!canRun)("a Compose file", () => {
  test.skipIf(lacks("postgres"))("with PostgreSQL starts a cluster", async () => {
    const set = await stage("compose.yaml");
    const server = await PostgresServer.start();
    onTestFinished(() => server.stop());
    await server.query("ALTER USER rollcall PASSWORD 'hunter2'");
    const rules = join(server.folder, "data", "pg_hba.conf");
    const strict = `local all rollcall scram-sha-256\n${readFileSync(rules, "utf8")}`;
    writeFileSync(rules, strict);
    await server.query("SELECT pg_reload_conf()");
    // The image's server, at its name and port, is this one, by its socket.
    const relay = `const net = require("node:net");
      net.createServer((near) => {
        const far = net.connect(${JSON.stringify(join(server.folder, `.s.PGSQL.${server.port}`))});
        for (const each of [near, far]) each.on("error", () => { near.destroy(); far.destroy(); });
        near.pipe(far).pipe(near);
      }).listen(5432)`;
    const postgres = set.lan.of("postgres").spawn(process.execPath, ["-e", relay]);
    onTestFinished(() => postgres[Symbol.asyncDispose]());
    await expectCluster(set);
  });

  test.skipIf(lacks("nats"))("with NATS starts a cluster", async () => {
    const set = await stage("nats.yaml");
    for (const name of ["nats-1", "nats-2", "nats-3"]) {
      mkdirSync(join(set.folder, name));
      const content = set.compose.configs?.["nats"]?.content ?? "";
      writeFileSync(set.here("/nats.conf", name), set.here(content, name));
      const args = set
        .here(set.compose.services[name]?.command ?? "", name)
        .trim()
        .split(/\s+/);
      const running = set.lan.of(name).spawn(NATS_SERVER, args);
      onTestFinished(() => running[Symbol.asyncDispose]());
    }
    await expectCluster(set);
  });
});
