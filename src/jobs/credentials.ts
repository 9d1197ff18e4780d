/**
 * The credentials that are out, and their way back.
 *
 *   intent (durable) ─▶ issued ─▶ held by the job ──(the job ended)──▶ owed ──(revoked)──▶ gone
 *      └──────(the process died, or it failed)──────────────────────────┘ ▲  │ failed: later
 *                                                                         └──┘
 * The intent is on disk before the provisioner is asked for a credential, so that one issued just
 * before a crash is revoked after it. Values are never written down.
 */
import type { Clock } from "../core/clock.ts";
import { ITSELF } from "../core/by.ts";
import { invalidArgument, RollcallError } from "../core/errors.ts";
import { CREDENTIALS as LIMITS } from "../core/jobs/limits.ts";
import type { Term } from "../engine/companion.ts";
import { CREDENTIAL_TIMES } from "./limits.ts";
import type { IssuedCredential, IssueRequest, Provisioner } from "./provisioner.ts";

/** The credentials of one job that are not revoked yet. */
interface Debt {
  readonly jobId: string;
  ids: readonly string[];
  /** Whether it is to be revoked. */
  isOwed: boolean;
  tries: number;
}

export interface CredentialsOptions {
  readonly provisioner: Provisioner;
  readonly clock: Clock;
  /** Throws while this node does not lead. */
  readonly term: () => Term;
  readonly onTrouble: (what: string, error: unknown) => void;
}

export class CredentialService {
  readonly #options: CredentialsOptions;
  readonly #debts = new Map<string, Debt>();
  readonly #waiting: Debt[] = [];
  #closing = new AbortController();
  #revoking = 0;

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  /** After a start: values are not known any more, so all that is out is revoked. */
  lead(): void {
    this.#closing = new AbortController();
    for (const { jobId, ids } of this.#options.term().state.credentials.byJob.values()) {
      this.#debts.set(jobId, { jobId, ids, isOwed: false, tries: 0 });
      this.release(jobId);
    }
  }

  end(): void {
    this.#closing.abort(new RollcallError("UNAVAILABLE", "this node does not lead any more"));
    this.#debts.clear();
    this.#waiting.length = 0;
  }

  /** Rejects, and revokes what may have been made, when there is none in time. */
  async issue(request: Omit<IssueRequest, "signal">): Promise<readonly IssuedCredential[]> {
    const { jobId } = request;
    const debt: Debt = { jobId, ids: [], isOwed: false, tries: 0 };
    this.#debts.set(jobId, debt);
    const term = this.#options.term();
    term.decide({ type: "credential.request", jobId }, ITSELF);
    await orAborted(new Promise<void>((resolve) => term.after(resolve)), this.#closing.signal);
    const signal = this.#within(CREDENTIAL_TIMES.issueMs);
    let asked: Promise<readonly IssuedCredential[]> | undefined;
    try {
      asked = this.#options.provisioner.issue({ ...request, signal });
      const issued = checked(await orAborted(asked, signal));
      debt.ids = issued.map(({ id }) => id);
      this.#options.term().decide({ type: "credential.issue", jobId, ids: debt.ids }, ITSELF);
      return issued;
    } catch (cause) {
      this.release(jobId);
      asked?.then((late) => this.#returned(jobId, late)).catch(() => undefined);
      throw new RollcallError("UNAVAILABLE", `no credentials could be issued for ${jobId}`, {
        cause,
      });
    }
  }

  /** Made after all, when nobody waits for them any more; or made and refused. */
  #returned(jobId: string, issued: readonly IssuedCredential[]): void {
    if (issued.length === 0) return;
    const ids = issued.map(({ id }) => id);
    const debt = this.#debts.get(jobId) ?? { jobId, ids, isOwed: true, tries: 0 };
    debt.ids = ids;
    debt.isOwed = true;
    this.#debts.set(jobId, debt);
    this.#options.term().decide({ type: "credential.issue", jobId, ids }, ITSELF);
    this.#revoke(debt);
  }

  async rotate(jobId: string, credentialId: string): Promise<IssuedCredential> {
    const { provisioner } = this.#options;
    if (!provisioner.rotate || !this.#debts.get(jobId)?.ids.includes(credentialId)) {
      throw new RollcallError("NOT_FOUND", `${jobId} has no ${credentialId} that can be rotated`);
    }
    const signal = this.#within(CREDENTIAL_TIMES.issueMs);
    const asked = provisioner.rotate({ jobId, credentialIds: [credentialId], signal });
    // A revoke during the rotation may have revoked the old value only.
    const late = (rotated: IssuedCredential) => {
      const isOver = this.#debts.get(jobId)?.isOwed ?? true;
      if (isOver) this.#returned(jobId, [{ ...rotated, id: credentialId }]);
    };
    asked.then(late).catch(() => undefined);
    const rotated = await orAborted(asked, signal);
    return { ...rotated, id: credentialId };
  }

  /** The job is over: what it has out is revoked. Idempotent. */
  release(jobId: string): void {
    const debt = this.#debts.get(jobId);
    if (!debt || debt.isOwed) return;
    debt.isOwed = true;
    this.#revoke(debt);
  }

  #revoke(debt: Debt): void {
    if (this.#closing.signal.aborted) return;
    if (this.#revoking >= CREDENTIAL_TIMES.revokesAtOnce) {
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
    const { provisioner, clock, onTrouble, term } = this.#options;
    const { signal: closing } = this.#closing;
    const signal = this.#within(CREDENTIAL_TIMES.revokeMs);
    const { jobId, ids: credentialIds } = debt;
    try {
      await orAborted(provisioner.revoke({ jobId, credentialIds, signal }), signal);
      if (closing.aborted) return;
      this.#debts.delete(jobId);
      term().decide({ type: "credential.revoke", jobId }, ITSELF);
    } catch (error) {
      if (closing.aborted) return;
      onTrouble(`the credentials of ${jobId} were not revoked; it is tried again`, error);
      const delayMs = CREDENTIAL_TIMES.firstRetryMs * 2 ** Math.min(debt.tries, 20);
      debt.tries += 1;
      const cancel = clock.after(Math.min(delayMs, CREDENTIAL_TIMES.lastRetryMs), () =>
        this.#revoke(debt),
      );
      closing.addEventListener("abort", cancel, { once: true });
    }
  }

  #within(ms: number): AbortSignal {
    const ending = new AbortController();
    const late = new RollcallError("DEADLINE_EXCEEDED", `the provisioner took over ${ms} ms`);
    this.#options.clock.after(ms, () => ending.abort(late));
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
  if (issued.length > LIMITS.perJob) {
    const message = `the provisioner issued ${issued.length}, at most ${LIMITS.perJob} are allowed`;
    throw new RollcallError("LIMIT_EXCEEDED", message);
  }
  // An unknown scheme crashes the Python client; what is sent is checked, not trusted.
  for (const { id, value, endpoint, ...more } of issued) {
    const scheme: string = more.scheme;
    if (scheme !== "bearer" || id === "" || value === "" || endpoint === "") {
      const message = "a credential needs the scheme bearer, an id, a value and an endpoint";
      throw invalidArgument(message);
    }
  }
  return issued;
}
