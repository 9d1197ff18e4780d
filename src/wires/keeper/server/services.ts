/** All services of this wire, on whatever takes them. */
import type { DescService } from "@bufbuild/protobuf";
import type { TaskClaims } from "../../../engine/claims.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Accesses, AddOptions } from "../../../net/grpc/server.ts";
import type { Handlers } from "../../../net/grpc/service.ts";
import type { Permit } from "../../../operations/access.ts";
import { inSnakeCase } from "../../field-names.ts";
import { ELECTIONS, ENTITLEMENTS, LEASES, REGISTRY_ACCESSES, TASKS } from "./accesses.ts";
import { electionService } from "./election-service.ts";
import { entitlementsService } from "./entitlements-service.ts";
import type { AgentFinder } from "./finder.ts";
import {
  ElectionService,
  EntitlementsService,
  LeaseService,
  RegistryService,
  TaskService,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { leaseService } from "./lease-service.ts";
import { KEEPER } from "./limits.ts";
import { registryService } from "./registry-service.ts";
import { taskService } from "./task-service.ts";

export interface KeeperOptions {
  readonly engine: Engine;
  readonly claims: TaskClaims;
  readonly finder: AgentFinder;
  readonly permit: Permit;
}

/** The server, as far as services are added to it. */
interface ServiceHost {
  add<Service extends DescService>(
    service: Service,
    handlers: Handlers<Service>,
    options: AddOptions<Service> & { readonly accesses: Accesses<Service> },
  ): void;
}

export function addKeeper(door: ServiceHost, options: KeeperOptions): void {
  const { engine, claims, finder, permit } = options;
  const { registerBytes, createTaskBytes, completeTaskBytes } = KEEPER;
  const fieldName = inSnakeCase;
  door.add(RegistryService, registryService(engine, finder, permit), {
    accesses: REGISTRY_ACCESSES,
    bytes: { register: registerBytes },
    fieldName,
  });
  door.add(LeaseService, leaseService(engine), { accesses: LEASES, fieldName });
  door.add(ElectionService, electionService(engine), { accesses: ELECTIONS, fieldName });
  door.add(EntitlementsService, entitlementsService(engine), {
    accesses: ENTITLEMENTS,
    fieldName,
  });
  door.add(TaskService, taskService(engine, claims), {
    accesses: TASKS,
    bytes: { createTask: createTaskBytes, completeTask: completeTaskBytes },
    fieldName,
  });
}
