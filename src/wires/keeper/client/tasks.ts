/** The queue, call by call. A program that only wants tasks done uses a worker instead. */
import { invalidArgument } from "../../../core/errors.ts";
import { TaskService } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { CLAIM_TTL_MS, FENCING_TOKEN } from "../server/metadata.ts";
import { secondsOf, taskFrom, wireStatus } from "./from-wire.ts";
import type { KeeperTask, TaskStatus } from "./types.ts";
import type { KeeperCallOptions, KeeperWire } from "./wire.ts";

export interface NewTask {
  readonly type: string;
  /** Bytes, or `json`: one of the two, or neither. */
  readonly input?: Uint8Array;
  readonly json?: unknown;
  /** Only agents that have all of these get it. */
  readonly requiredTools?: readonly string[];
  readonly maxRetries?: number;
  /** How long a claim lasts without a renewal; whole seconds, rounded up. */
  readonly ttlMs?: number;
}

/** A task in an agent's hands. */
export interface KeeperClaim {
  readonly task: KeeperTask;
  readonly agentId: string;
  /** Tells this claim from one before or after it; absent where the daemon does not tell. */
  readonly token?: number;
  readonly ttlMs?: number;
}

/** As much of a claim as it takes to end it. */
export interface ClaimRef {
  readonly task: Pick<KeeperTask, "id">;
  readonly agentId: string;
  readonly token?: number;
}

const { method } = TaskService;

export class KeeperTasks {
  readonly #wire: KeeperWire;

  constructor(wire: KeeperWire) {
    this.#wire = wire;
  }

  async create(task: NewTask, options: KeeperCallOptions = {}): Promise<KeeperTask> {
    const request = {
      type: task.type,
      input: inputOf(task),
      requiredTools: [...(task.requiredTools ?? [])],
      maxRetries: task.maxRetries ?? 0,
      ttlSeconds: secondsOf(task.ttlMs ?? 0),
    };
    return taskFrom((await this.#wire.call(method.createTask, request, options)).task);
  }

  /** Waits until there is one that fits; if it is cancelled before, nothing is claimed. */
  async claim(agentId: string, options: KeeperCallOptions = {}): Promise<KeeperClaim> {
    const { timeoutMs } = options;
    const sent = { ...options, isPatient: timeoutMs === undefined };
    const { message, header } = await this.#wire.ask(method.claimTask, { agentId }, sent);
    const token = numberIn(header(FENCING_TOKEN));
    const ttlMs = numberIn(header(CLAIM_TTL_MS));
    return {
      task: taskFrom(message.task),
      agentId,
      ...(token !== undefined && { token }),
      ...(ttlMs !== undefined && { ttlMs }),
    };
  }

  async complete(
    claim: ClaimRef,
    output: Uint8Array = NOTHING,
    options: KeeperCallOptions = {},
  ): Promise<void> {
    const { task, agentId } = claim;
    const sent = { ...options, metadata: claimMetadata(claim) };
    await this.#wire.call(method.completeTask, { taskId: task.id, agentId, output }, sent);
  }

  /** Back to the queue, or the end of it when no retry is left. */
  async fail(claim: ClaimRef, reason: string, options: KeeperCallOptions = {}): Promise<void> {
    const { task, agentId } = claim;
    const sent = { ...options, metadata: claimMetadata(claim) };
    await this.#wire.call(method.failTask, { taskId: task.id, agentId, reason }, sent);
  }

  async get(taskId: string, options: KeeperCallOptions = {}): Promise<KeeperTask> {
    return taskFrom((await this.#wire.call(method.getTask, { taskId }, options)).task);
  }

  /** The tasks with this status; all without one. */
  async list(
    options: KeeperCallOptions & { readonly status?: TaskStatus } = {},
  ): Promise<readonly KeeperTask[]> {
    const { status, ...rest } = options;
    const request = { status: wireStatus(status) };
    return (await this.#wire.call(method.listTasks, request, rest)).tasks.map(taskFrom);
  }
}

const NOTHING = new Uint8Array();

/** A value as the bytes of a task's input or output. */
export function encodeJson(value: unknown): Uint8Array {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? NOTHING : Buffer.from(text);
}

/** And back; nothing for no bytes. */
export function decodeJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (cause) {
    throw invalidArgument("these bytes are not JSON", cause);
  }
}

export function claimMetadata({ token }: ClaimRef): Readonly<Record<string, string>> {
  return token === undefined ? {} : { [FENCING_TOKEN]: String(token) };
}

function inputOf({ input, json }: NewTask): Uint8Array {
  if (input && json !== undefined) {
    throw invalidArgument("input and json exclude each other: give one");
  }
  return input ?? encodeJson(json);
}

function numberIn(header: string | undefined): number | undefined {
  const value = Number(header ?? NaN);
  return Number.isSafeInteger(value) ? value : undefined;
}
