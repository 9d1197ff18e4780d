/**
 * Tells the fleet what the status files of this machine say, and what they cannot say themselves:
 * that their agent fell silent, or that its process is gone.
 *
 *   file ──▶ fresh ──silent too long──▶ stale ──written again──▶ fresh
 *              │                          │
 *              └── stopped, removed, its process gone ──▶ over
 *
 * Files are read when they change, and silence rings. Only processes have to be looked at, every
 * second. With very many of them they take turns in being proved to be the same, and in
 * between it must do that one with that number is there.
 */
import { codeOf, wireCodes } from "../../core/errors.ts";
import { Heap, type Slot } from "../../core/heap.ts";
import { isGone } from "../../core/questions.ts";
import { withTimes } from "../../core/report-news.ts";
import type { Report } from "../../core/reports.ts";
import type { Clock } from "../../core/clock.ts";
import { ProcessFiles } from "../../machine/process-files.ts";
import type { ProcessProof } from "../../machine/processes.ts";
import { FRESHNESS } from "./limits.ts";
import { isLater, REMOVED, vitalityOf, type Signs, type Vitality } from "./liveness.ts";
import type { StatusFile } from "./read.ts";
import { aliasOf, reportOf } from "./report.ts";
import { watchStatusDir, type StatusChanges } from "./watch.ts";
import { processes, writerIn, type Processes } from "./writers.ts";

export interface FileReporterOptions {
  readonly folder: string;
  readonly host: string;
  readonly report: (report: Report) => Promise<unknown>;
  /** The fleet's reports of files of this host; one whose file is not there is over. */
  readonly known: () => Promise<readonly Report[]>;
  readonly clock: Clock;
  /** The fleet's time, which never falls, as that of the clock may. */
  readonly fleetMs: () => number;
  readonly staleAfterMs?: number;
  readonly processes?: Processes;
  /** An agent that is here names its A2A card; said again and again while it is here. */
  readonly onCard?: (card: { readonly cardUrl: string; readonly name: string }) => void;
  readonly onTrouble?: (what: string, error: unknown) => void;
}

/** An end is known within two seconds; the telling may take one, on a machine that is busy. */
const LOOK_MS = 1_000;
/** How many processes are proved to be the same in one look: a millisecond. */
const PROOFS_PER_LOOK = 50;
/**
 * Cards are named again every half minute: the directory forgets them after three. As often, the
 * files of processes that nobody asks for any more are closed.
 */
const LOOKS_PER_CARD = 30;
/** Reports become durable together; more than this would only wait in memory. */
const TOLD_AT_ONCE = 500;

interface FollowedFile {
  readonly file: StatusFile;
  readonly writer: ProcessProof | undefined;
  /** Of its report: never lower than the one before, also where the clock was set back. */
  readonly order: number;
  isRemoved: boolean;
  /** As last judged. */
  vitality: Vitality;
  /** When its task came into the state it is in, as far as was seen. */
  inState: { readonly key: string; readonly sinceMs: number };
  /** When what is told of it was so: its file's time, or when its end was found out. */
  foundAtMs: number;
  /** Whether a complaint about this very file was made, and no report came through since. */
  isTroubled: boolean;
  /** Rings when it has been silent for too long. */
  readonly timer: Slot<string>;
}

export class FileReporter {
  readonly #options: FileReporterOptions;
  readonly #processFiles = new ProcessFiles();
  readonly #processes: Processes;
  readonly #staleAfterMs: number;
  readonly #abort = new AbortController();
  readonly #byAlias = new Map<string, FollowedFile>();
  readonly #aliasOf = new Map<string, string>();
  /** Files whose process is checked at every look; the others only change when they ring. */
  readonly #pids = new Map<string, number>();
  readonly #silence = new Heap<string>();
  readonly #untold = new Set<string>();
  /** The fleet's reports of our files at the start; then of those whose end is still to be told. */
  readonly #known = new Map<string, Report>();
  #isRemembered = false;
  /** Whether the files that are there were read. */
  #hasRead = false;
  /** The troubles at the start that were told already. */
  readonly #troubles = new Set<string>();
  readonly #following: Promise<void>;
  #stopLooking: (() => void) | undefined;
  #looks = 0;

  constructor(options: FileReporterOptions) {
    this.#options = options;
    const find = (pid: number) => this.#processFiles.find(pid);
    this.#processes = options.processes ?? { ...processes, find };
    this.#staleAfterMs = options.staleAfterMs ?? FRESHNESS.staleAfterMs;
    this.#following = this.#follow();
    this.#lookLater();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    this.#stopLooking?.();
    await this.#following;
    this.#processFiles[Symbol.dispose]();
  }

  async #follow(): Promise<void> {
    await this.#remember();
    try {
      for await (const changes of watchStatusDir(this.#options.folder, this.#abort)) {
        await this.#take(changes);
        if (!this.#hasRead) await this.#endUnknown();
        this.#hasRead = true;
      }
    } catch (error) {
      this.#options.onTrouble?.("status files are not followed", error);
    }
  }

  /** Loads the reports of our files from before. */
  async #remember(): Promise<void> {
    const prefix = `file@${this.#options.host}:`;
    try {
      for (const report of await this.#options.known()) {
        if (report.alias.startsWith(prefix)) this.#known.set(report.alias, report);
      }
      this.#isRemembered = true;
    } catch (error) {
      this.#complain("the fleet's records of status files could not be read", error);
    }
  }

  /** A file that can no longer be read keeps its last report; in time that is stale. */
  async #take({ read, removed }: StatusChanges): Promise<void> {
    const files = read.filter((reading) => reading.kind === "status");
    await Promise.all(removed.map((path) => this.#end(path)));
    await inTurns(files, (file) =>
      this.#update(file).catch((error: unknown) =>
        this.#complain(`${file.path} was not reported`, error),
      ),
    );
  }

  async #update(file: StatusFile): Promise<void> {
    const alias = aliasOf(this.#options.host, file.status);
    const before = this.#byAlias.get(alias);
    // Of two files with one id the younger counts; what a file says now counts in any case.
    const isOther = before && before.file.path !== file.path;
    if (isOther && file.updatedAtMs < before.file.updatedAtMs) return;
    const lastOrder = before?.order ?? this.#known.get(alias)?.order ?? 0;
    const key = `${file.status.task?.id} ${file.status.task?.state} ${file.status.task?.summary}`;
    const inState =
      before?.inState.key === key ? before.inState : { key, sinceMs: this.#sinceOf(alias, file) };
    const writer = this.#writerOf(file, before);
    const vitality = vitalityOf({ file, writer }, this.#signs());
    this.#forget(alias);
    this.#aliasOf.set(file.path, alias);
    const { pid = 0, lifecycle } = file.status.runtime;
    if (pid > 0) this.#pids.set(alias, pid);
    const timer = this.#silence.add(file.updatedAtMs + this.#staleAfterMs + 1, alias);
    // Its file does not know that its process is gone, nor when it went.
    const isFound = isGone(vitality.liveness.value) && lifecycle !== "stopped";
    const foundAtMs = isFound ? this.#options.clock.wallMs() : file.updatedAtMs;
    const followed: FollowedFile = {
      file,
      writer,
      order: Math.max(Math.min(file.updatedAtMs, this.#options.clock.wallMs()), lastOrder),
      isRemoved: false,
      vitality,
      inState,
      foundAtMs,
      isTroubled: false,
      timer,
    };
    this.#byAlias.set(alias, followed);
    if (cardIn(before?.file) !== cardIn(file)) this.#nameCard(followed);
    await this.#tell(alias);
  }

  #nameCard({ file, vitality }: FollowedFile): void {
    const cardUrl = cardIn(file);
    if (!cardUrl || vitality.liveness.value !== "alive") return;
    this.#options.onCard?.({ cardUrl, name: file.status.agent_name });
  }

  /** As the file says, as it is there now, or as it was there when it was last looked for. */
  #writerOf(file: StatusFile, before: FollowedFile | undefined): ProcessProof | undefined {
    const { pid = 0 } = file.status.runtime;
    const said = writerIn(file.status);
    if (said || pid <= 0) return said;
    const found = this.#processes.find(pid);
    if (found && !isLater(file, this.#processes.startedAtMs(found))) return found;
    return before?.writer?.pid === pid ? before.writer : undefined;
  }

  #forget(alias: string): void {
    const followed = this.#byAlias.get(alias);
    if (followed) this.#silence.remove(followed.timer);
    this.#pids.delete(alias);
    this.#byAlias.delete(alias);
  }

  /** Since when its task is in its state: as the fleet knows it, where that is the same. */
  #sinceOf(alias: string, file: StatusFile): number {
    const known = this.#known.get(alias)?.facts;
    const { host } = this.#options;
    const about = { host, liveness: REMOVED, hasEnded: false, inStateSinceMs: file.updatedAtMs };
    const { question, outcome } = reportOf(file, about).facts;
    const [asked, before] = [question?.value, known?.question?.value];
    if (asked && before && asked.kind === before.kind && asked.text === before.text) {
      return before.sinceMs;
    }
    const isSame =
      outcome?.value === known?.outcome?.value && outcome?.text === known?.outcome?.text;
    return isSame ? (known?.outcome?.atMs ?? file.updatedAtMs) : file.updatedAtMs;
  }

  async #end(path: string): Promise<void> {
    const alias = this.#aliasOf.get(path);
    if (alias === undefined) return;
    this.#aliasOf.delete(path);
    const followed = this.#byAlias.get(alias);
    if (followed?.file.path !== path) return;
    followed.isRemoved = true;
    this.#check(alias, this.#signs());
    await this.#tell(alias);
  }

  /** Ends the agents whose file was removed while we did not run; every look tries again. */
  async #endUnknown(): Promise<void> {
    if (!this.#isRemembered) await this.#remember();
    await inTurns([...this.#known], ([alias, report]) => this.#endOld(alias, report));
  }

  async #endOld(alias: string, report: Report): Promise<void> {
    try {
      if (!this.#byAlias.has(alias) && !isGone(report.facts.liveness.value)) {
        const { process } = report.facts;
        const isOver = process && !this.#processes.find(process.pid);
        const facts = {
          ...report.facts,
          liveness: REMOVED,
          ...(isOver && { process: { ...process, hasEnded: true } }),
        };
        await this.#report({ ...report, reportedAtMs: this.#options.clock.wallMs(), facts });
      }
      this.#known.delete(alias);
    } catch (error) {
      if (wireCodes(codeOf(error)).retry === "never") this.#known.delete(alias);
      this.#complain("agents whose files are gone were not reported", error);
    }
  }

  /** Once for what is tried again and again. */
  #complain(what: string, error: unknown): void {
    if (!this.#troubles.has(what)) this.#options.onTrouble?.(what, error);
    this.#troubles.add(what);
  }

  /** Records of old may lie ahead; they count as of now. */
  #report(report: Report): Promise<unknown> {
    const order = Math.min(report.order, this.#options.fleetMs());
    // Files may tell times in microseconds.
    return this.#options.report(withTimes({ ...report, order }, Math.floor));
  }

  #lookLater(): void {
    this.#stopLooking = this.#options.clock.after(LOOK_MS, () => {
      void this.#look().finally(() => {
        if (!this.#abort.signal.aborted) this.#lookLater();
      });
    });
  }

  async #look(): Promise<void> {
    this.#looks += 1;
    const signs = this.#signs();
    const turns = Math.ceil(this.#pids.size / PROOFS_PER_LOOK);
    const isTaken = turns > 1 ? this.#processes.census() : () => false;
    let place = this.#looks;
    for (const [alias, pid] of this.#pids) {
      place += 1;
      if (place % turns === 0 || !isTaken(pid)) this.#check(alias, signs);
    }
    for (let due = this.#silence.takeDue(signs.nowMs); due;) {
      this.#check(due.value, signs);
      due = this.#silence.takeDue(signs.nowMs);
    }
    if (this.#looks % LOOKS_PER_CARD === 0) {
      for (const followed of this.#byAlias.values()) this.#nameCard(followed);
      this.#processFiles.keepOnly(new Set(this.#pids.values()));
    }
    await inTurns([...this.#untold], (alias) => this.#tell(alias));
    if (this.#hasRead) await this.#endUnknown();
  }

  #check(alias: string, signs: Signs): void {
    const followed = this.#byAlias.get(alias);
    if (!followed || followed.vitality.hasEnded) return;
    const before = followed.vitality;
    const vitality = vitalityOf(followed, signs);
    const { liveness, hasEnded } = vitality;
    if (liveness.rule === before.liveness.rule && hasEnded === before.hasEnded) return;
    followed.vitality = vitality;
    const isNews = isGone(liveness.value) && !isGone(before.liveness.value);
    if (isNews) followed.foundAtMs = signs.nowMs;
    this.#untold.add(alias);
  }

  #signs(): Signs {
    const nowMs = this.#options.clock.wallMs();
    return { nowMs, staleAfterMs: this.#staleAfterMs, processes: this.#processes };
  }

  /**
   * A report that fails is retried at the next look; one that is refused for good is not, until
   * there is something else to say.
   */
  async #tell(alias: string): Promise<void> {
    // Before the report: a change meanwhile is reported again.
    this.#untold.delete(alias);
    const followed = this.#byAlias.get(alias);
    if (!followed) return;
    const { file, writer, order, isRemoved, vitality, inState, foundAtMs } = followed;
    // Without its file it is followed for as long as its process is there.
    const isOver = isRemoved && (vitality.hasEnded || !this.#pids.has(alias));
    const report = reportOf(file, {
      host: this.#options.host,
      ...vitality,
      processStartedAtMs: writer && this.#processes.startedAtMs(writer),
      inStateSinceMs: inState.sinceMs,
    });
    try {
      await this.#report({ ...report, order, reportedAtMs: foundAtMs });
      followed.isTroubled = false;
      if (isOver && this.#byAlias.get(alias) === followed) this.#forget(alias);
    } catch (error) {
      if (wireCodes(codeOf(error)).retry !== "never") this.#untold.add(alias);
      if (!followed.isTroubled) this.#options.onTrouble?.(`${alias} was not reported`, error);
      followed.isTroubled = true;
    }
  }
}

/** As many at once as become durable together. */
async function inTurns<T>(all: readonly T[], tell: (each: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += TOLD_AT_ONCE) {
    await Promise.all(all.slice(i, i + TOLD_AT_ONCE).map((each) => tell(each)));
  }
}

function cardIn(file: StatusFile | undefined): string | undefined {
  return file?.status.a2a?.agent_card_url;
}
