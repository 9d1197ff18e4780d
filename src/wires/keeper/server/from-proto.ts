/** Messages of callers as commands of core; values that core cannot express are refused here. */
import type { Agent, AgentCard } from "../../../core/agents.ts";
import type { Refusal } from "../../../core/decide.ts";
import { invalidArgument, refusalError, type RollcallError } from "../../../core/errors.ts";
import { FIELD } from "../../../core/limits.ts";
import type { Policy } from "../../../core/policies.ts";
import type { TaskStatus } from "../../../core/tasks.ts";
import {
  PolicyEffect,
  TaskStatus as ProtoTaskStatus,
  type AgentCard as ProtoCard,
  type FencingToken,
  type Policy as ProtoPolicy,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import type { GrpcCall } from "../../../net/grpc/service.ts";
import { FENCING_TOKEN } from "./metadata.ts";

export function ttlMsOf(ttlSeconds: number): number {
  return ttlSeconds * 1000;
}

export function cardOf(card: ProtoCard | undefined): AgentCard {
  if (!card) throw notSet("card");
  const { name, description, version, tools } = card;
  const capabilities = card.capabilities.map((each) => ({
    name: each.name,
    description: each.description,
  }));
  // A key such as __proto__ becomes a property like any other.
  const metadata = Object.fromEntries(Object.entries(card.metadata));
  return { name, description, version, capabilities, tools, metadata };
}

export function tokenOf(token: FencingToken | undefined): number {
  if (!token) throw notSet("token");
  const value = Number(token.value);
  if (Number.isSafeInteger(value)) return value;
  throw invalidArgument(`token is ${token.value.toString()}, which was never given out`);
}

export function policyOf(policy: ProtoPolicy | undefined): Policy {
  if (!policy) throw notSet("policy");
  const { id, subject, action, resource } = policy;
  return { id, subject, action, resource, effect: effectOf(policy.effect) };
}

function effectOf(effect: PolicyEffect): Policy["effect"] {
  if (effect === PolicyEffect.ALLOW) return "allow";
  if (effect === PolicyEffect.DENY) return "deny";
  throw invalidArgument(
    `policy.effect is ${effect === 0 ? "not set" : effect}: it must be ALLOW or DENY`,
  );
}

/** The status asked for; undefined for all, null for one that no task here ever has. */
export function wantedStatusOf(status: ProtoTaskStatus): TaskStatus | undefined | null {
  switch (status) {
    case ProtoTaskStatus.UNSPECIFIED:
      return undefined;
    case ProtoTaskStatus.PENDING:
      return "pending";
    case ProtoTaskStatus.CLAIMED:
      return "claimed";
    case ProtoTaskStatus.COMPLETED:
      return "completed";
    case ProtoTaskStatus.DEAD:
      return "dead";
    // A task that failed is pending again, or dead.
    case ProtoTaskStatus.FAILED:
      return null;
    default:
      throw invalidArgument(`status is ${status}, which is no status of a task`);
  }
}

export function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

/**
 * Why a task failed, cut and cleaned to what is kept: often it is the whole output of a program,
 * and refusing that would leave the task claimed until its time is up.
 */
export function keptReason(reason: string): string {
  const clean = reason.replaceAll(/[^\P{Cc}\t\n\r]/gu, "").trim();
  return clean.slice(0, FIELD.reasonLength).replace(/[\uD800-\uDBFF]$/, "");
}

/** A number that came along as text. */
export function numberInHeader(call: GrpcCall, name: string): number | undefined {
  const text = call.header(name);
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(value)) return value;
  throw invalidArgument(`${name} is not a whole number`);
}

/** The token of a claim, from callers that send it along. */
export function claimTokenOf(call: GrpcCall): { readonly token?: number } {
  const token = numberInHeader(call, FENCING_TOKEN);
  return token === undefined ? {} : { token };
}

/** The agent, unless the rules refused it. */
export function granted(found: Agent | Refusal): Agent {
  if ("ok" in found) throw refusalError(found);
  return found;
}

function notSet(field: string): RollcallError {
  return invalidArgument(`${field} is not set`);
}
