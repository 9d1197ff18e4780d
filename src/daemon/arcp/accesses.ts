/** The right that each ARCP message needs. A message that is not here does not compile. */
import type { Access } from "../../core/access.ts";
import type { By } from "../../core/by.ts";
import { agentRefOf } from "../../core/jobs/agent-ref.ts";
import { ACCESS, type Permit } from "../../operations/access.ts";
import { TABLE } from "../../operations/table.ts";
import type { ClientMessage } from "../../wires/arcp/codec/messages.ts";

/** Part of having a session, which was asked for already. */
const SESSION = undefined;

const ACCESSES: Readonly<Record<ClientMessage["type"], Access | typeof SESSION>> = {
  "session.hello": ACCESS.session,
  "session.list_jobs": TABLE.jobs.list.access,
  "job.submit": ACCESS.submit,
  "job.cancel": ACCESS.cancel,
  "job.subscribe": TABLE.jobs.get.access,
  "job.unsubscribe": SESSION,
  "session.ack": SESSION,
  "session.ping": SESSION,
  "session.pong": SESSION,
  "session.bye": SESSION,
  "session.close": SESSION,
  "x-vendor": SESSION,
};

/** Throws where the caller may not send such a message. */
export function permitMessages(permit: Permit) {
  return (by: By, message: ClientMessage): void => {
    const access = ACCESSES[message.type];
    if (!access) return;
    permit(by, access, message);
    // A policy that denies an agent denies each of its versions.
    const name = message.type === "job.submit" ? agentRefOf(message.agent)?.name : undefined;
    if (name !== undefined) permit(by, access, { agent: name });
  };
}
