/**
 * The leases that this program holds. To the daemon an agent is one holder: it gets its own lease
 * back as often as it asks, and one release releases it for all. So a second caller that uses the
 * same agent learns here that the lease is taken.
 *
 *   free ──ask──▶ asked ──granted──▶ held ──lost──▶ lost
 *    ▲              │ refused         │ released      │ asked for again
 *    └──────────────┴─────────────────┴───────────────┘
 *
 * The handle of a lease that was lost may come late to give it back. When it is asked for again
 * before that, it must not: the daemon may have kept it, and would take it from the new handle.
 */
import type { HeldLease } from "./lease.ts";

export class LeaseHoldings {
  readonly #byKey = new Map<string, Promise<HeldLease | undefined>>();

  /** Nothing when somebody of this program has it, or the daemon gives nothing. */
  async acquire(
    holder: string,
    taskId: string,
    ask: () => Promise<HeldLease | undefined>,
  ): Promise<HeldLease | undefined> {
    const key = `${holder}\n${taskId}`;
    for (let last = this.#byKey.get(key); last; last = this.#byKey.get(key)) {
      const lease = await last.catch(() => undefined);
      if (lease?.isHeld) return undefined;
      await lease?.forsake();
      this.#forget(key, last);
    }
    const asked = ask();
    this.#byKey.set(key, asked);
    try {
      const lease = await asked;
      if (lease) lease.onReleased(() => this.#forget(key, asked));
      else this.#forget(key, asked);
      return lease;
    } catch (error) {
      this.#forget(key, asked);
      throw error;
    }
  }

  #forget(key: string, asked: Promise<HeldLease | undefined>): void {
    if (this.#byKey.get(key) === asked) this.#byKey.delete(key);
  }
}
