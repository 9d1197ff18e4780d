/**
 * Being a member: this node introduces itself to whoever leads, does so anew when it finds that it
 * is none (it was silent for too long), and leaves when it is closed.
 *
 *   start ──▶ joining ──▶ member ──found missing──▶ joining
 *                │ its name is another's
 *                └──▶ refused: it cannot go on
 */
import { ownBy, type By } from "../../core/by.ts";
import type { Clock } from "../../core/clock.ts";
import { codeOf, RollcallError } from "../../core/errors.ts";
import { MEMBERS } from "../../core/limits.ts";
import type { Introduction } from "../../core/members.ts";
import { SECOND } from "../../core/units.ts";
import type { Engine } from "../../engine/engine.ts";

const LOOK_MS = 1 * SECOND;

/** A node that was killed counts as living for a while: it is worth waiting for. */
const PATIENCE_MS = MEMBERS.livingMs + 2 * SECOND;

export interface MembershipOptions {
  readonly engine: Pick<Engine, "execute" | "peek" | "mode">;
  readonly introduction: Introduction;
  readonly clock: Clock;
  /** Another node has this one's name, or the log is too new for it. */
  readonly onRefused: (error: RollcallError) => void;
  readonly onTrouble: (what: string, error: unknown) => void;
}

const BY: By = ownBy("daemon");

export class Membership {
  readonly #options: MembershipOptions;
  #stop: () => void = () => undefined;
  #isJoining = false;
  #isClosed = false;
  /** Since when its name is another's; undefined while it is not. */
  #refusedSinceMs: number | undefined;
  #trouble = "";

  constructor(options: MembershipOptions) {
    this.#options = options;
    void this.#look();
  }

  get isMember(): boolean {
    const { engine, introduction } = this.#options;
    const { node, instance } = introduction;
    return engine.peek(({ members }) => members.byNode.get(node)?.member.instance === instance);
  }

  /** Leaves, if somebody leads who can hear it. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stop();
    const { engine, introduction } = this.#options;
    const { node, instance } = introduction;
    if (!this.isMember) return;
    await engine.execute({ type: "node.leave", node, instance }, BY).catch(() => undefined);
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return;
    this.#stop = this.#options.clock.after(LOOK_MS, () => void this.#look());
    if (this.#isJoining || this.#isIntroduced) return;
    this.#isJoining = true;
    await this.#join().finally(() => (this.#isJoining = false));
  }

  /** As it is now: its address may be another than before. */
  get #isIntroduced(): boolean {
    const { engine, introduction } = this.#options;
    return engine.peek(({ members }) => {
      const member = members.byNode.get(introduction.node)?.member;
      return (
        member?.instance === introduction.instance &&
        member.address === introduction.address &&
        member.version === introduction.version &&
        member.formats.join() === introduction.formats.join()
      );
    });
  }

  async #join(): Promise<void> {
    const { engine, introduction, clock, onRefused, onTrouble } = this.#options;
    try {
      await engine.execute({ type: "node.join", member: introduction }, BY);
      this.#refusedSinceMs = undefined;
      this.#trouble = "";
    } catch (error) {
      if (this.#isClosed) return;
      const message = error instanceof Error ? error.message : String(error);
      // Its version cannot read the log: nothing gets better by waiting.
      if (codeOf(error) === "STORAGE_TOO_NEW") {
        return onRefused(new RollcallError("STORAGE_TOO_NEW", message, { cause: error }));
      }
      if (codeOf(error) !== "ALREADY_EXISTS") {
        if (message !== this.#trouble) onTrouble("this node could not join the cluster", error);
        this.#trouble = message;
        return;
      }
      const nowMs = clock.monotonicMs();
      this.#refusedSinceMs ??= nowMs;
      const isPatient = nowMs - this.#refusedSinceMs < PATIENCE_MS;
      if (!isPatient) onRefused(new RollcallError("ALREADY_EXISTS", message, { cause: error }));
    }
  }
}
