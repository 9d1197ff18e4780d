/** All services of this wire, on whatever takes them. */
import type { DescService } from "@bufbuild/protobuf";
import type { UntypedServiceImplementation } from "@grpc/grpc-js";
import type { TaskClaims } from "../../engine/claims.ts";
import type { Engine } from "../../engine/engine.ts";
import { electionService } from "./election-service.ts";
import { entitlementsService } from "./entitlements-service.ts";
import type { Finder } from "./finder.ts";
import {
  ElectionService,
  EntitlementsService,
  LeaseService,
  RegistryService,
  TaskService,
} from "./gen/agentkeeper/v1/agentkeeper_pb.ts";
import { implementationOf, type CarryOptions } from "./grpc-js.ts";
import { leaseService } from "./lease-service.ts";
import { registryService } from "./registry-service.ts";
import type { Handlers } from "./service.ts";
import { taskService } from "./task-service.ts";

export interface KeeperOptions extends CarryOptions {
  readonly engine: Engine;
  readonly claims: TaskClaims;
  readonly finder: Finder;
}

/** What takes services: a door. */
interface Taker {
  add(service: DescService, implementation: UntypedServiceImplementation): void;
}

export function addKeeper(door: Taker, options: KeeperOptions): void {
  const { engine, claims, finder } = options;
  const add = <Service extends DescService>(service: Service, handlers: Handlers<Service>) =>
    door.add(service, implementationOf(service, handlers, options));
  add(RegistryService, registryService(engine, finder));
  add(LeaseService, leaseService(engine));
  add(ElectionService, electionService(engine));
  add(EntitlementsService, entitlementsService(engine));
  add(TaskService, taskService(engine, claims));
}
