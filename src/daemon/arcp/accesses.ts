/** The right that each ARCP message needs. A message that is not here does not compile. */
import type { Access } from "../../core/access.ts";
import { agentRefOf } from "../../core/jobs/agent-ref.ts";
import { ACCESS, type Permit } from "../../operations/access.ts";
import { TABLE } from "../../operations/table.ts";
import type { ClientMessage } from "../../wires/arcp/codec/messages.ts";
import type { PermitMessage } from "../../wires/arcp/server/connection.ts";

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
export function permitMessages(permit: Permit): PermitMessage {
  return (by, message) => {
    const access = ACCESSES[message.type];
    if (!access) return;
    permit(by, access, message);
    // A policy that denies an agent denies each of its versions.
    const ref = message.agent === undefined ? undefined : agentRefOf(message.agent);
    if (ref) permit(by, access, { agent: ref.name });
  };
}
