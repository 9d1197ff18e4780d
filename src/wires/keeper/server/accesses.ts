/** The right that each method of this wire needs: that of the same operation. */
import type { Accesses } from "../../../net/grpc/server.ts";
import { ACCESS } from "../../../operations/access.ts";
import { TABLE } from "../../../operations/table.ts";
import type {
  ElectionService,
  EntitlementsService,
  LeaseService,
  RegistryService,
  TaskService,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";

const { agents, leases, elections, policies, tasks } = TABLE;

export const REGISTRY_ACCESSES: Accesses<typeof RegistryService> = {
  register: agents.register.access,
  heartbeat: agents.heartbeat.access,
  deregister: agents.deregister.access,
  getAgent: agents.get.access,
  find: agents.find.access,
  watch: ACCESS.events,
};

export const LEASES: Accesses<typeof LeaseService> = {
  acquireLease: leases.acquire.access,
  renewLease: leases.renew.access,
  releaseLease: leases.release.access,
};

export const ELECTIONS: Accesses<typeof ElectionService> = {
  campaign: elections.campaign.access,
  resign: elections.resign.access,
  watchElection: elections.get.access,
};

export const ENTITLEMENTS: Accesses<typeof EntitlementsService> = {
  setPolicy: policies.set.access,
  deletePolicy: policies.delete.access,
  listPolicies: policies.list.access,
  checkPolicy: policies.check.access,
};

export const TASKS: Accesses<typeof TaskService> = {
  createTask: tasks.create.access,
  claimTask: tasks.claim.access,
  completeTask: tasks.complete.access,
  failTask: tasks.fail.access,
  getTask: tasks.get.access,
  listTasks: tasks.list.access,
};
