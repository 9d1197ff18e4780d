/**
 * One bit of one file flips while nobody has it open. At the next start that is harmless (all that
 * can be read is the same) or refused (a code of storage, with the file in the message), and the
 * next token is above all that were handed out before; also if the operator then moves the database
 * away to start empty. Before the start the operator looks with `doctor --deep` and makes a backup:
 * both refuse what the start refuses, and leave it to be refused. A backup that is made holds the
 * very content. Anything else was believed.
 */
import { openSync, closeSync, readSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { LIBRARY } from "../../src/core/by.ts";
import { RollcallError } from "../../src/core/errors.ts";
import { Engine } from "../../src/engine/engine.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { backUp, beginRestore, verify } from "../../src/log/sqlite/upkeep.ts";
import { readWal } from "../../src/log/sqlite/wal.ts";
import { readWitness } from "../../src/log/sqlite/witness.ts";
import type { Random } from "../simulation/random.ts";
import { contentOf, copied, type Ended, type Lives } from "./life.ts";

export interface Flip {
  readonly target: string;
  readonly life: keyof Lives;
  /** Behind the path of the database. */
  readonly file: "" | "-wal" | ".witness";
  readonly at: number;
  readonly bit: number;
}

export type Outcome =
  | { readonly kind: "harmless" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "believed"; readonly why: string };

const WAL_HEADER = 32;
const FRAME = 24 + 4096;

interface Target {
  readonly name: string;
  readonly life: keyof Lives;
  readonly file: Flip["file"];
  /** Bytes of the file. */
  readonly range: (path: string) => readonly [from: number, to: number];
}

function whole(file: Flip["file"]): Target["range"] {
  return (path) => [0, statSync(path + file).size - 1];
}

/** The frames behind the last commit but one, up to the last. */
function lastCommit(path: string): readonly [number, number] {
  const end = acknowledged(path);
  return [WAL_HEADER + (end - 1) * FRAME, WAL_HEADER + end * FRAME - 1];
}

/** The header and all frames; behind them is room, where a bit means nothing. */
function wholeWal(path: string): readonly [number, number] {
  return [0, WAL_HEADER + acknowledged(path) * FRAME - 1];
}

function acknowledged(path: string): number {
  return readWitness(path)?.head?.frames ?? readWal(`${path}-wal`).committed;
}

const TARGETS: readonly Target[] = [
  { name: "db, closed well", life: "closed", file: "", range: whole("") },
  { name: "db, after kill -9", life: "killed", file: "", range: whole("") },
  { name: "wal, after kill -9", life: "killed", file: "-wal", range: wholeWal },
  { name: "wal, last commit", life: "killed", file: "-wal", range: lastCommit },
  { name: "wal, header", life: "killed", file: "-wal", range: () => [0, WAL_HEADER - 1] },
  { name: "db, large, closed well", life: "large", file: "", range: whole("") },
  { name: "backup", life: "backup", file: "", range: whole("") },
  { name: "witness, closed well", life: "closed", file: ".witness", range: whole(".witness") },
  { name: "witness, after kill -9", life: "killed", file: ".witness", range: whole(".witness") },
];

export interface FlipPlan {
  readonly random: Random;
  readonly count: number;
  /** Of the targets whose names have it. */
  readonly only?: string;
}

/** One of each kind, in turn. */
export function* flips(lives: Lives, { random, count, only = "" }: FlipPlan): Generator<Flip> {
  const targets = TARGETS.filter(({ name, life }) => lives[life] && name.includes(only));
  for (let i = 0; i < count; i += 1) {
    const target = targets[i % targets.length];
    const ended = target && lives[target.life];
    if (!ended) return;
    const [from, to] = target.range(`${ended.folder}/rollcall.db`);
    const { name, life, file } = target;
    yield { target: name, life, file, at: random.between(from, to), bit: random.between(0, 7) };
  }
}

/** Flips the bit in a copy, and starts on it. */
export async function judge(lives: Lives, flip: Flip, scratch: string): Promise<Outcome> {
  const life = lives[flip.life];
  if (!life) return { kind: "believed", why: `there is no life ${flip.life}` };
  rmSync(scratch, { recursive: true, force: true });
  const path = copied(life, scratch);
  flipBit(path + flip.file, flip);
  const outcome = await (flip.life === "backup" ? restored : lookedAt)(life, path);
  if (outcome.kind === "believed") return outcome;
  if (outcome.kind === "refused") {
    for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
  }
  // A backup that is refused leaves the place as it was: nothing begins anew there.
  if (flip.life === "backup" && outcome.kind === "refused") return outcome;
  const token = await nextToken(path);
  if (token > life.fence) return outcome;
  return { kind: "believed", why: `token ${token} after ${life.fence}` };
}

export function flipBit(path: string, { at, bit }: Pick<Flip, "at" | "bit">): void {
  const file = openSync(path, "r+");
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, at);
  byte.writeUInt8(byte.readUInt8() ^ (1 << bit));
  writeSync(file, byte, 0, 1, at);
  closeSync(file);
}

/** A backup that is refused is named; one that is taken gives the very content. */
async function restored(life: Ended, file: string): Promise<Outcome> {
  const path = `${file}.restored`;
  try {
    await beginRestore(file, path).commit();
  } catch (error) {
    return refusalOf(error, file);
  }
  const outcome = await started(life, path);
  for (const end of ["", ".witness"]) renameSync(path + end, file + end);
  return outcome;
}

/** By an operator who looks before the start. */
async function lookedAt(life: Ended, path: string): Promise<Outcome> {
  const look = await outcomeOf(path, () => verify(path));
  const target = `${path}.backup`;
  const backup = await outcomeOf(path, () => backUp({ path, target, madeBy: "flips" }));
  const outcome = await started(life, path);
  if (outcome.kind === "believed") return outcome;
  for (const [reader, each] of Object.entries({ doctor: look, backup })) {
    if (each.kind === "believed") return each;
    if (each.kind === "harmless" && outcome.kind === "refused") {
      return { kind: "believed", why: `${reader} finds nothing, but a start: ${outcome.message}` };
    }
  }
  if (backup.kind === "refused") return outcome;
  const again = await restored(life, target);
  return again.kind === "harmless" ? outcome : { kind: "believed", why: "its backup is another" };
}

async function outcomeOf(path: string, run: () => Promise<unknown>): Promise<Outcome> {
  try {
    await run();
    return { kind: "harmless" };
  } catch (error) {
    return refusalOf(error, path);
  }
}

async function started({ content }: Ended, path: string): Promise<Outcome> {
  const store = sqliteStore({ path });
  try {
    await store.log.open();
    if ((await contentOf(store)) === content) return { kind: "harmless" };
    return { kind: "believed", why: "it reads otherwise" };
  } catch (error) {
    return refusalOf(error, path);
  } finally {
    await store.close();
  }
}

function refusalOf(error: unknown, path: string): Outcome {
  const isNamed = error instanceof RollcallError && error.message.includes(path);
  if (!isNamed) return { kind: "believed", why: `it says ${String(error)}` };
  return { kind: "refused", message: `${error.code}: ${error.message}` };
}

async function nextToken(path: string): Promise<number> {
  const store = sqliteStore({ path });
  const engine = await Engine.open({ log: store.log });
  try {
    const card = { name: "next", description: "", version: "", capabilities: [], tools: [] };
    const told = { type: "agent.register", card: { ...card, metadata: {} }, ttlMs: 0 } as const;
    const { agentId } = await engine.execute(told, LIBRARY);
    const lease = { type: "lease.acquire", taskId: "next", agentId, ttlMs: 0 } as const;
    return (await engine.execute(lease, LIBRARY)).lease.token;
  } finally {
    await engine.close();
    await store.close();
  }
}
