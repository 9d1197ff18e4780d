/**
 * The hooks of a session run side by side, each a process of its own, and all change one status.
 * None may be lost, none may wait long, and any of them may be killed at any point. So there is no
 * lock that could be left behind:
 *
 *   1. A hook puts its fact into the session's folder, as a file of its own (deposit.ts).
 *   2. The sidecar, or the hook itself where there is none, reads the latest version of the
 *      history, adds all facts that are not in it, and offers the result as the next version. Only
 *      one can: the name is taken or it is not (link(2)).
 *   3. Who lost looks again: most often the winner's version has all facts already.
 *   4. Who won publishes the status, then looks again: if the history went on meanwhile, what it
 *      wrote may be old, and it writes once more. So the last write is always of the latest.
 *
 * A fact is removed only when the latest version includes it. Versions are whole or not there.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../core/text.ts";
import { complain } from "./complaints.ts";
import { writeDraft } from "./deposit.ts";
import { isFact, type Fact } from "./fact.ts";
import {
  extend,
  includes,
  isHistory,
  isSettled,
  newHistory,
  presentOf,
  type History,
} from "./history.ts";
import { SPOOL } from "./limits.ts";
import type { HookSession } from "./session.ts";
import { Unchanged } from "./unchanged.ts";

interface SpoolVersion {
  readonly version: number;
  readonly history: History;
  /** What the session is by that history. */
  readonly session: HookSession;
}

interface SpoolFiles extends SpoolVersion {
  /** Names of the facts that are there. */
  readonly facts: readonly string[];
  /** Versions that are there, and drafts. */
  readonly versions: readonly number[];
  readonly drafts: readonly string[];
}

export interface SpoolOptions {
  readonly folder: string;
  /** The session before its first fact. */
  readonly initial: HookSession;
  /**
   * Makes the status say what the session is, which may not be new. May be called more than once.
   */
  readonly publish: (session: HookSession, isNew: boolean) => void;
}

export class Spool {
  readonly #folder: string;
  readonly #initial: HookSession;
  readonly #publish: SpoolOptions["publish"];
  readonly #files = new Unchanged<SpoolFiles>();
  /** The version that was read last: versions never change. */
  #known: SpoolVersion | undefined;

  constructor({ folder, initial, publish }: SpoolOptions) {
    this.#folder = folder;
    this.#initial = initial;
    this.#publish = publish;
  }

  /** Takes in every fact that waits, and publishes if it changed anything. */
  settle(): HookSession {
    return this.#work({ isForced: false });
  }

  /** Publishes in any case: a sign of life. */
  refresh(): HookSession {
    return this.#work({ isForced: true });
  }

  present(): HookSession {
    return this.#look().session;
  }

  #work({ isForced }: { readonly isForced: boolean }): HookSession {
    let isNew = false;
    let published: number | undefined;
    for (let round = 0; round < SPOOL.rounds; round += 1) {
      const view = this.#look();
      const fresh = view.facts.filter((name) => !includes(view.history, idOf(name)));
      const facts = this.#read(fresh, view.history);
      if (facts.length > 0) {
        if (this.#offer(view, facts)) isNew = true;
        continue;
      }
      this.#clean(view);
      const mustPublish = isNew || isForced;
      if (!mustPublish || published === view.version) return view.session;
      this.#publish(view.session, isNew);
      published = view.version;
    }
    throw new Error(`gave up after ${SPOOL.rounds} rounds`);
  }

  #look(): SpoolFiles {
    return this.#files.read(this.#folder, () => this.#list());
  }

  #list(): SpoolFiles {
    for (;;) {
      const names = fs.existsSync(this.#folder) ? fs.readdirSync(this.#folder) : [];
      const versions = names
        .flatMap((name) => /^state-(\d+)\.json$/.exec(name)?.[1] ?? [])
        .map(Number)
        .sort((a, b) => b - a);
      const known = this.#version(versions[0] ?? 0);
      // It was the latest when the names were read, and is gone: there is a later one.
      if (!known) continue;
      const facts = names.filter((name) => name.startsWith("fact-")).sort();
      const drafts = names.filter((name) => name.startsWith("draft-"));
      return { ...known, facts: facts.slice(0, SPOOL.facts), versions, drafts };
    }
  }

  #version(version: number): SpoolVersion | undefined {
    if (this.#known?.version === version) return this.#known;
    const history = version === 0 ? newHistory(this.#initial) : this.#history(version);
    if (!history) return undefined;
    this.#known = { version, history, session: presentOf(history) };
    return this.#known;
  }

  #history(version: number): History | undefined {
    const text = readIfThere(this.#path(nameOf(version)));
    return text === undefined ? undefined : this.#parse(text);
  }

  #parse(text: string): History {
    const history = parseJson(text);
    if (isHistory(history)) return history;
    complain("a session's history cannot be read: it begins anew");
    return newHistory(this.#initial);
  }

  /** The facts that change something; the others are deleted. */
  #read(names: readonly string[], history: History): readonly Fact[] {
    return names.flatMap((name) => {
      const text = readIfThere(this.#path(name));
      if (text === undefined) return [];
      const fact = parseFact(text, idOf(name));
      if (fact && !isSettled(history, fact)) return [fact];
      fs.rmSync(this.#path(name), { force: true });
      return [];
    });
  }

  /** Whether ours became the next version. */
  #offer({ version, history }: SpoolFiles, facts: readonly Fact[]): boolean {
    const draft = writeDraft(this.#folder, extend(history, facts));
    try {
      fs.linkSync(draft, this.#path(nameOf(version + 1)));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      return false;
    } finally {
      fs.rmSync(draft, { force: true });
    }
  }

  #clean({ version, versions, history, facts, drafts }: SpoolFiles): void {
    for (const name of facts) {
      if (includes(history, idOf(name))) fs.rmSync(this.#path(name), { force: true });
    }
    for (const old of versions.filter((each) => each < version - SPOOL.versions)) {
      fs.rmSync(this.#path(nameOf(old)), { force: true });
    }
    for (const name of drafts) {
      const path = this.#path(name);
      const stats = fs.statSync(path, { throwIfNoEntry: false });
      if (stats && Date.now() - stats.mtimeMs > SPOOL.abandonedMs) fs.rmSync(path, { force: true });
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

function nameOf(version: number): string {
  return `state-${version}.json`;
}

function idOf(name: string): string {
  return name.slice("fact-".length, -".json".length);
}

function parseFact(text: string, id: string): Fact | undefined {
  const fact = parseJson(text);
  if (isFact(fact) && fact.id === id) return fact;
  complain("a fact that cannot be read is thrown away");
  return undefined;
}

function readIfThere(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
