/**
 * The credentials that are out, and their way back.
 *
 *   intent (durable) ─▶ issued ─▶ held by the job ──(the job ended)──▶ owed ──(revoked)──▶ gone
 *      └──────(the process died, or it failed)──────────────────────────┘ ▲  │ failed: later
 *                                                                         └──┘
 * The intent is on disk before anybody is asked for a credential, so that one which was made just
 * before a crash is revoked after it. Values are never written down.
 */
import { RollcallError } from "../core/errors.ts";
import type { Alarms, Alarmed } from "./alarms.ts";
import { CREDENTIALS } from "./limits.ts";
import type { Ledger, LedgerRecord } from "./ledger.ts";
import type { IssuedCredential, IssueRequest, Provisioner } from "./provisioner.ts";
import type { Recorder } from "./recorder.ts";

export interface DebtEntry {
  readonly t: "cred";
  readonly job: string;
  readonly ids: readonly string[];
}

/** What one job has out. */
class Debt implements LedgerRecord, Alarmed {
  readonly jobId: string;
  ids: readonly string[];
  isOwed = false;
  tries = 0;
  readonly #due: (debt: Debt) => void;

  constructor(jobId: string, ids: readonly string[], due: (debt: Debt) => void) {
    this.jobId = jobId;
    this.ids = ids;
    this.#due = due;
  }

  entry(): DebtEntry {
    return { t: "cred", job: this.jobId, ids: this.ids };
  }

  onAlarm(): void {
    this.#due(this);
  }
}

export interface CredentialsOptions {
  readonly provisioner: Provisioner;
  readonly recorder: Recorder;
  readonly ledger: Ledger;
  readonly alarms: Alarms;
  readonly onTrouble: (what: string, error: unknown) => void;
}

export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #debts = new Map<string, Debt>();
  readonly #waiting: Debt[] = [];
  readonly #closing = new AbortController();
  #revoking = 0;

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  /** Rejects, and revokes what may have been made, when there is none in time. */
  async issue(request: Omit<IssueRequest, "signal">): Promise<readonly IssuedCredential[]> {
    const { jobId } = request;
    const debt = new Debt(jobId, [], (due) => this.#revoke(due));
    this.#debts.set(jobId, debt);
    this.#options.ledger.put(debt);
    await this.#options.recorder.settled();
    const signal = this.#within(CREDENTIALS.issueMs);
    let asked: Promise<readonly IssuedCredential[]> | undefined;
    try {
      asked = this.#options.provisioner.issue({ ...request, signal });
      const issued = checked(await orAborted(asked, signal));
      debt.ids = issued.map(({ id }) => id);
      this.#options.ledger.put(debt);
      return issued;
    } catch (cause) {
      this.end(jobId);
      asked?.then((late) => this.#returned(jobId, late)).catch(() => undefined);
      throw new RollcallError("UNAVAILABLE", "no credentials could be issued", { cause });
    }
  }

  /** Made after all, when nobody waits for them any more; or made and refused. */
  #returned(jobId: string, issued: readonly IssuedCredential[]): void {
    if (issued.length === 0) return;
    const ids = issued.map(({ id }) => id);
    const debt = this.#debts.get(jobId) ?? new Debt(jobId, ids, (due) => this.#revoke(due));
    debt.ids = ids;
    debt.isOwed = true;
    this.#debts.set(jobId, debt);
    this.#options.ledger.put(debt);
    this.#revoke(debt);
  }

  async rotate(jobId: string, credentialId: string): Promise<IssuedCredential> {
    const { provisioner } = this.#options;
    if (!provisioner.rotate || !this.#debts.get(jobId)?.ids.includes(credentialId)) {
      throw new RollcallError("NOT_FOUND", `${credentialId} cannot be rotated`);
    }
    const signal = this.#within(CREDENTIALS.issueMs);
    const asked = provisioner.rotate({ jobId, credentialIds: [credentialId], signal });
    // Whoever revoked while it was under way may have revoked the old value only.
    const late = (rotated: IssuedCredential) => {
      const isOver = this.#debts.get(jobId)?.isOwed ?? true;
      if (isOver) this.#returned(jobId, [{ ...rotated, id: credentialId }]);
    };
    asked.then(late).catch(() => undefined);
    const rotated = await orAborted(asked, signal);
    return { ...rotated, id: credentialId };
  }

  /** The job is over: what it has out is owed. Idempotent. */
  end(jobId: string): void {
    const debt = this.#debts.get(jobId);
    if (!debt || debt.isOwed) return;
    debt.isOwed = true;
    this.#revoke(debt);
  }

  /** As the ledger says; the last entry of a job counts. */
  restore({ job, ids }: DebtEntry, place: number): void {
    const known = this.#debts.get(job);
    const debt = known ?? new Debt(job, ids, (due) => this.#revoke(due));
    debt.ids = ids;
    this.#debts.set(job, debt);
    this.#options.ledger.place(debt, place);
  }

  forget(jobId: string): void {
    const debt = this.#debts.get(jobId);
    if (debt) this.#options.ledger.drop(debt, { t: "cred-", job: jobId });
    this.#debts.delete(jobId);
  }

  /** The jobs that have some out. */
  get jobs(): readonly string[] {
    return [...this.#debts.keys()];
  }

  close(): void {
    this.#closing.abort();
  }

  #revoke(debt: Debt): void {
    if (this.#closing.signal.aborted) return;
    if (this.#revoking >= CREDENTIALS.revokesAtOnce) {
      this.#waiting.push(debt);
      return;
    }
    this.#revoking += 1;
    void this.#ask(debt).finally(() => {
      this.#revoking -= 1;
      const next = this.#waiting.shift();
      if (next) this.#revoke(next);
    });
  }

  async #ask(debt: Debt): Promise<void> {
    const { provisioner, alarms, onTrouble } = this.#options;
    const signal = this.#within(CREDENTIALS.revokeMs);
    const { jobId, ids: credentialIds } = debt;
    try {
      await orAborted(provisioner.revoke({ jobId, credentialIds, signal }), signal);
      this.forget(jobId);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      onTrouble(`the credentials of ${jobId} were not revoked; it is tried again`, error);
      const delayMs = CREDENTIALS.firstRetryMs * 2 ** Math.min(debt.tries, 20);
      debt.tries += 1;
      alarms.set(alarms.nowMs() + Math.min(delayMs, CREDENTIALS.lastRetryMs), debt);
    }
  }

  #within(ms: number): AbortSignal {
    const ending = new AbortController();
    const { alarms } = this.#options;
    const end = () => ending.abort(new RollcallError("DEADLINE_EXCEEDED", `took over ${ms} ms`));
    alarms.set(alarms.nowMs() + ms, { onAlarm: end });
    return AbortSignal.any([ending.signal, this.#closing.signal]);
  }
}

/** A provisioner that ignores its signal holds up nobody. */
function orAborted<T>(asked: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    asked.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function checked(issued: readonly IssuedCredential[]): readonly IssuedCredential[] {
  if (issued.length > CREDENTIALS.perJob) {
    throw new RollcallError("LIMIT_EXCEEDED", `more than ${CREDENTIALS.perJob} credentials`);
  }
  // An unknown scheme crashes the Python client; what is sent is checked, not trusted.
  for (const { id, value, endpoint, ...more } of issued) {
    const scheme: string = more.scheme;
    if (scheme !== "bearer" || id === "" || value === "" || endpoint === "") {
      throw new RollcallError("INVALID_ARGUMENT", "a credential has no id, value or endpoint");
    }
  }
  return issued;
}
