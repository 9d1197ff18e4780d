/**
 * Credentials that were made for jobs and are not revoked yet.
 *
 *   requested ──▶ issued ──(the job ended)──▶ owed ──revoked──▶ gone
 *       └──(the process died, or it failed)────▲
 *
 * A request is durable before the provisioner gets it, so that a credential issued just before a
 * crash is revoked after it. Values are never recorded; ids are.
 */
import { decided, type Decision } from "./decide.ts";
import type { Event } from "./events.ts";
import { atMost, invalid, key } from "./fields.ts";
import { CREDENTIALS } from "./jobs/limits.ts";
import { FIELD } from "./limits.ts";
import type { State } from "./state.ts";

/** The credentials issued for one job. */
export interface Credential {
  readonly jobId: string;
  /** None before they were issued: then all that was made for this job is meant. */
  readonly ids: readonly string[];
}

export class Credentials {
  readonly byJob = new Map<string, Credential>();
}

export type CredentialCommand =
  | { readonly type: "credential.request"; readonly jobId: string }
  | {
      readonly type: "credential.issue";
      readonly jobId: string;
      readonly ids: readonly string[];
    }
  | { readonly type: "credential.revoke"; readonly jobId: string };

export interface CredentialReplies {
  "credential.request": null;
  "credential.issue": null;
  "credential.revoke": null;
}

export type CredentialEvent =
  | {
      readonly type: "credential.requested" | "credential.issued";
      readonly credential: Credential;
    }
  | { readonly type: "credential.revoked"; readonly jobId: string };

export function decideCredential(
  { credentials }: State,
  command: CredentialCommand,
): Decision<Event, null> {
  const { jobId } = command;
  const refusal = invalid(key("jobId", jobId, FIELD.nameLength));
  if (refusal) return refusal;
  switch (command.type) {
    case "credential.request":
      return decided([{ type: "credential.requested", credential: { jobId, ids: [] } }], null);
    case "credential.issue": {
      const { ids } = command;
      const tooMany = invalid(atMost("credentials", ids.length, CREDENTIALS.perJob));
      if (tooMany) return tooMany;
      return decided([{ type: "credential.issued", credential: { jobId, ids } }], null);
    }
    case "credential.revoke":
      return decided(
        credentials.byJob.has(jobId) ? [{ type: "credential.revoked", jobId }] : [],
        null,
      );
  }
}

export function evolveCredential({ credentials }: State, event: CredentialEvent): void {
  if (event.type === "credential.revoked") credentials.byJob.delete(event.jobId);
  else credentials.byJob.set(event.credential.jobId, event.credential);
}
