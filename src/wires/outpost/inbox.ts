/**
 * Requests of the team to this daemon, done or refused by its own rules. Each kind needs that
 * this machine accepts it; a kind that is not known here is refused. Answers to questions, prompts
 * and new jobs get their row in the table when they exist.
 */
import { z } from "zod";
import { byOf, type By } from "../../core/by.ts";
import { codeOf, RollcallError, type ErrorCode } from "../../core/errors.ts";
import { FIELD } from "../../core/limits.ts";
import type { Accept } from "../../core/outposts.ts";
import { DEFAULT_NAMESPACE } from "../../core/principals.ts";
import type { Engine } from "../../engine/engine.ts";
import { mayAccept } from "./policy.ts";

export interface InboxOptions {
  readonly engine: Pick<Engine, "execute">;
  readonly accept: Accept;
  /** The host of the team's daemon. */
  readonly team: string;
}

/** The answer to the team: a refusal, or nothing beside the id. */
export interface RequestOutcome {
  readonly id: string;
  readonly code?: ErrorCode;
  readonly message?: string;
}

const REQUEST = z.looseObject({
  id: z.string().max(64),
  by: z.string().max(FIELD.keyLength),
  kind: z.string().max(64),
});

const CANCEL = z.looseObject({ jobId: z.string(), reason: z.string() });

interface RequestKind {
  readonly needs: Accept;
  run(engine: InboxOptions["engine"], request: unknown, by: By): Promise<unknown>;
}

const KINDS: Readonly<Record<string, RequestKind>> = {
  "job.cancel": {
    needs: "jobs",
    async run(engine, request, by) {
      const { jobId, reason } = CANCEL.parse(request);
      await engine.execute({ type: "job.cancel", jobId, reason }, by);
    },
  },
};

export class Inbox {
  readonly #options: InboxOptions;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Nothing for what is no request. */
  async take(text: string): Promise<RequestOutcome | undefined> {
    const request = REQUEST.safeParse(JSON.parse(text));
    if (!request.success) return undefined;
    const { id } = request.data;
    try {
      await this.#do(request.data);
      return { id };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { id, code: codeOf(error), message };
    }
  }

  async #do(request: z.output<typeof REQUEST>): Promise<void> {
    const { engine, accept } = this.#options;
    const { kind, by } = request;
    const doing = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
    if (!doing) throw new RollcallError("UNIMPLEMENTED", `this outpost knows no ${kind}`);
    if (!mayAccept(accept, doing.needs)) {
      const message = `this outpost accepts ${accept}, ${kind} needs accept = "${doing.needs}"`;
      throw new RollcallError("PERMISSION_DENIED", message);
    }
    await doing.run(engine, request, this.#callerNamed(by));
  }

  /** The team's caller, as an operator of this machine: whoever set `accept` allowed it. */
  #callerNamed(name: string): By {
    const { team } = this.#options;
    const principal = {
      name: `team:${name}`,
      kind: "person",
      namespace: DEFAULT_NAMESPACE,
      roles: ["operator"],
    } as const;
    return byOf(principal, "outpost", team);
  }
}
