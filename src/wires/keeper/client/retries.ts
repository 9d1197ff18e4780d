/**
 * Which calls may be sent again when the answer was lost, and why. A call that surely never
 * reached the daemon is always sent again; this is about those it may have done already.
 */
import type {
  ElectionService,
  EntitlementsService,
  LeaseService,
  RegistryService,
  TaskService,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";

type MethodName =
  | keyof typeof RegistryService.method
  | keyof typeof LeaseService.method
  | keyof typeof ElectionService.method
  | keyof typeof EntitlementsService.method
  | keyof typeof TaskService.method;

interface Rule {
  readonly isRepeatable: boolean;
  readonly because: string;
}

const RULES: Readonly<Record<MethodName, Rule>> = {
  register: never("a second one would be a second agent"),
  heartbeat: again("it only moves a deadline"),
  deregister: again("an id never comes back: the second finds it dead"),
  getAgent: again("it reads"),
  find: again("it reads"),
  watch: again("it goes on from a sequence"),
  acquireLease: again("the same holder gets its own lease back"),
  renewLease: again("it only moves a deadline, and the token keeps it to this grant"),
  releaseLease: again("the token keeps it to this grant"),
  campaign: again("a candidate that campaigns stays where it is"),
  resign: again("an agent that has resigned stays so"),
  watchElection: again("it goes on from a sequence"),
  setPolicy: again("it replaces the policy of its id"),
  deletePolicy: never("it might delete one that was set since"),
  listPolicies: again("it reads"),
  checkPolicy: again("it reads"),
  createTask: never("a second one would be a second task"),
  claimTask: never("it would claim a second task; a worker asks again by itself"),
  completeTask: never("the second could not tell its own success; a worker looks and decides"),
  failTask: never("it might use up a retry that another claim has begun"),
  getTask: again("it reads"),
  listTasks: again("it reads"),
};

export function isRepeatable(method: string): boolean {
  return Object.hasOwn(RULES, method) && RULES[method as MethodName].isRepeatable;
}

function again(because: string): Rule {
  return { isRepeatable: true, because };
}

function never(because: string): Rule {
  return { isRepeatable: false, because };
}
