/**
 * The queue, over the wire. The proto has no field for the token of a claim, so it travels beside
 * the messages: `ClaimTask` tells it, and a caller that sends it back is held to it. One that does
 * not is held to the claim alone.
 */
import { create } from "@bufbuild/protobuf";
import { check } from "../../../operations/parse.ts";
import { RollcallError } from "../../../core/errors.ts";
import { key } from "../../../core/fields.ts";
import type { Task } from "../../../core/tasks.ts";
import { seesTask, sightOf } from "../../../core/visibility.ts";
import type { TaskClaims } from "../../../engine/claims.ts";
import type { Engine } from "../../../engine/engine.ts";
import { answered, bounded } from "./answer.ts";
import { base64Of, claimTokenOf, ttlMsOf, keptReason, wantedStatusOf } from "./from-proto.ts";
import {
  ClaimTaskResponseSchema,
  CompleteTaskResponseSchema,
  CreateTaskResponseSchema,
  FailTaskResponseSchema,
  GetTaskResponseSchema,
  ListTasksResponseSchema,
  type TaskService,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { CLAIM_TTL_MS, FENCING_TOKEN } from "./metadata.ts";
import type { Handlers } from "../../../net/grpc/service.ts";
import { TASK_STATUS, taskMessage } from "./to-proto.ts";

export function taskService(engine: Engine, claims: TaskClaims): Handlers<typeof TaskService> {
  return {
    async createTask(request, { by }) {
      const command = {
        type: "task.create",
        taskType: request.type,
        input: base64Of(request.input),
        requiredTools: request.requiredTools,
        maxRetries: request.maxRetries,
        ttlMs: ttlMsOf(request.ttlSeconds),
      } as const;
      const task = await engine.execute(command, by);
      return create(CreateTaskResponseSchema, { task: taskMessage(task) });
    },

    async claimTask({ agentId }, call) {
      const task = await claims.claim({ agentId, by: call.by }, call.signal);
      call.tell(FENCING_TOKEN, String(task.token));
      call.tell(CLAIM_TTL_MS, String(task.ttlMs));
      return create(ClaimTaskResponseSchema, { task: taskMessage(task) });
    },

    async completeTask({ taskId, agentId, output: bytes }, call) {
      const output = base64Of(bytes);
      const command = { type: "task.complete", taskId, agentId, output } as const;
      await engine.execute({ ...command, ...claimTokenOf(call) }, call.by);
      return create(CompleteTaskResponseSchema);
    },

    async failTask({ taskId, agentId, reason: text }, call) {
      const reason = keptReason(text);
      const command = { type: "task.fail", taskId, agentId, reason } as const;
      await engine.execute({ ...command, ...claimTokenOf(call) }, call.by);
      return create(FailTaskResponseSchema);
    },

    async getTask({ taskId }, { by }) {
      check(key("taskId", taskId));
      const sight = sightOf(by.principal);
      const task = await engine.read((state) => {
        const found = state.tasks.byId.get(taskId)?.task;
        return seesTask(sight, state, found) ? found : undefined;
      });
      if (!task) throw new RollcallError("NOT_FOUND", `no task ${taskId}`);
      return create(GetTaskResponseSchema, { task: taskMessage(task) });
    },

    async listTasks({ status }, { by }) {
      const isAny = wantedStatusOf(status) === undefined;
      const sight = sightOf(by.principal);
      const list = await answered(engine, (state) =>
        bounded("tasks", state.tasks.byId.values(), {
          isWanted: ({ task }) =>
            (isAny || TASK_STATUS[task.status] === status) && seesTask(sight, state, task),
          weigh: ({ task }) => weightOf(task),
        }),
      );
      return create(ListTasksResponseSchema, { tasks: list.map(({ task }) => taskMessage(task)) });
    },
  };
}

function weightOf({ input, output, type, failureReason, requiredTools }: Task): number {
  const texts = type + failureReason + requiredTools.join("..");
  return Math.ceil(((input.length + output.length) * 3) / 4) + Buffer.byteLength(texts);
}
