/**
 * Requests of the team to this daemon, done or refused by its own rules. Each kind needs that
 * this machine accepts it; a kind that is not known here is refused. Answers to questions and
 * prompts get their row in the table when they exist.
 */
import { z } from "zod";
import { byOf, type By } from "../../core/by.ts";
import { codeOf, RollcallError, type ErrorCode } from "../../core/errors.ts";
import { FIELD } from "../../core/limits.ts";
import type { Accept } from "../../core/outposts.ts";
import { DEFAULT_NAMESPACE } from "../../core/principals.ts";
import type { SubmitReply } from "../../core/job-submit.ts";
import type { Engine } from "../../engine/engine.ts";
import type { JobOrder } from "../../jobs/submissions.ts";
import { mayAccept } from "./policy.ts";

export interface InboxOptions {
  readonly engine: Pick<Engine, "execute">;
  /** Has a job run here. */
  readonly submit: SubmitJob;
  readonly accept: Accept;
  /** The host of the team's daemon. */
  readonly team: string;
}

export type SubmitJob = (
  order: Pick<JobOrder, "by" | "session" | "agent" | "input" | "lease" | "key">,
) => SubmitReply | Promise<SubmitReply>;

/** The answer to the team: a refusal, or the id of a job, or nothing beside the id. */
export interface RequestOutcome {
  readonly id: string;
  readonly jobId?: string;
  readonly code?: ErrorCode;
  readonly message?: string;
}

const REQUEST = z.looseObject({
  id: z.string().max(64),
  by: z.string().max(FIELD.keyLength),
  kind: z.string().max(64),
});

const CANCEL = z.looseObject({ jobId: z.string(), reason: z.string() });
const SUBMIT = z.looseObject({
  agent: z.string().min(1),
  input: z.string(),
  key: z.string().optional(),
});

interface RequestKind {
  readonly needs: Accept;
  run(options: InboxOptions, request: unknown, by: By): Promise<Pick<RequestOutcome, "jobId">>;
}

const KINDS: Readonly<Record<string, RequestKind>> = {
  "job.cancel": {
    needs: "jobs",
    async run({ engine }, request, by) {
      const { jobId, reason } = CANCEL.parse(request);
      await engine.execute({ type: "job.cancel", jobId, reason }, by);
      return {};
    },
  },
  "job.submit": {
    needs: "jobs",
    async run({ submit }, request, by) {
      const { agent, input, key } = SUBMIT.parse(request);
      const order = { by, session: "", agent, input: inputIn(input), lease: {}, key };
      const { job } = await submit(order);
      return { jobId: job.id };
    },
  },
};

/** JSON, else a text; nothing where it is empty. */
function inputIn(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

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
      return { id, ...(await this.#do(request.data)) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { id, code: codeOf(error), message };
    }
  }

  async #do(request: z.output<typeof REQUEST>): Promise<Pick<RequestOutcome, "jobId">> {
    const { accept } = this.#options;
    const { kind, by } = request;
    const doing = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
    if (!doing) throw new RollcallError("UNIMPLEMENTED", `this outpost knows no ${kind}`);
    if (!mayAccept(accept, doing.needs)) {
      const message = `this outpost accepts ${accept}, ${kind} needs accept = "${doing.needs}"`;
      throw new RollcallError("PERMISSION_DENIED", message);
    }
    return doing.run(this.#options, request, this.#callerNamed(by));
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
