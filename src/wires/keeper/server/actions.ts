/** The action that each method of this wire is, for the roles of its callers. */
import type { Actions } from "../../../net/grpc/server.ts";
import type {
  ElectionService,
  EntitlementsService,
  LeaseService,
  RegistryService,
  TaskService,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";

export const REGISTRY: Actions<typeof RegistryService> = {
  register: "agent.register",
  heartbeat: "agent.heartbeat",
  deregister: "agent.deregister",
  getAgent: "agent.read",
  find: "agent.read",
  watch: "event.read",
};

export const LEASES: Actions<typeof LeaseService> = {
  acquireLease: "lease.acquire",
  renewLease: "lease.renew",
  releaseLease: "lease.release",
};

export const ELECTIONS: Actions<typeof ElectionService> = {
  campaign: "election.campaign",
  resign: "election.resign",
  watchElection: "election.read",
};

export const ENTITLEMENTS: Actions<typeof EntitlementsService> = {
  setPolicy: "policy.set",
  deletePolicy: "policy.delete",
  listPolicies: "policy.read",
  checkPolicy: "policy.check",
};

export const TASKS: Actions<typeof TaskService> = {
  createTask: "task.create",
  claimTask: "task.claim",
  completeTask: "task.complete",
  failTask: "task.fail",
  getTask: "task.read",
  listTasks: "task.read",
};
