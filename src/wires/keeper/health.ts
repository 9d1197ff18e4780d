/**
 * The standard health service: load balancers and probes ask it, by service or as a whole. All
 * services here stand on one engine, so they are well or unwell together.
 */
import { create } from "@bufbuild/protobuf";
import {
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Clock } from "../../engine/clock.ts";
import {
  HealthCheckResponse_ServingStatus as Serving,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
  type HealthCheckRequest,
  type HealthCheckResponse,
  type HealthListRequest,
  type HealthListResponse,
} from "./gen/grpc/health/v1/health_pb.ts";

/** How often watchers are looked after: sooner than anybody who asks instead would ask again. */
const LOOK_MS = 500;
/** Probes and balancers; agents have no reason to. */
const MAX_WATCHERS = 1_000;

export interface HealthOptions {
  readonly isServing: () => boolean;
  /** The full names of all services. */
  readonly services: () => readonly string[];
  readonly clock: Clock;
}

type WatchCall = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>;

export class Health {
  readonly #options: HealthOptions;
  readonly #watchers = new Map<WatchCall, Serving>();
  #stopLooking: (() => void) | undefined;
  #isClosed = false;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  get implementation(): UntypedServiceImplementation {
    return {
      Check: (
        { request }: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
        reply: sendUnaryData<HealthCheckResponse>,
      ) => {
        const now = this.#statusOf(request.service);
        if (now !== Serving.SERVICE_UNKNOWN) return reply(null, answer(now));
        reply({ code: status.NOT_FOUND, details: `no service ${request.service}` });
      },
      List: (
        _call: ServerUnaryCall<HealthListRequest, HealthListResponse>,
        reply: sendUnaryData<HealthListResponse>,
      ) => {
        const names = ["", ...this.#options.services()];
        const statuses = names.map((name) => [name, answer(this.#statusOf(name))] as const);
        reply(null, create(HealthListResponseSchema, { statuses: Object.fromEntries(statuses) }));
      },
      Watch: (call: WatchCall) => this.#watch(call),
    };
  }

  /** Tells watchers that it is over, and ends them. */
  close(): void {
    this.#isClosed = true;
    this.#look();
    for (const call of this.#watchers.keys()) call.end();
    this.#watchers.clear();
    this.#stopLooking?.();
  }

  #watch(call: WatchCall): void {
    if (this.#watchers.size >= MAX_WATCHERS) {
      const details = `there are already ${MAX_WATCHERS} watchers of health`;
      call.emit("error", { code: status.RESOURCE_EXHAUSTED, details });
      return;
    }
    const now = this.#statusOf(call.request.service);
    this.#watchers.set(call, now);
    call.on("cancelled", () => this.#watchers.delete(call));
    call.write(answer(now));
    if (this.#isClosed) this.close();
    else if (!this.#stopLooking) this.#lookLater();
  }

  #lookLater(): void {
    this.#stopLooking = this.#options.clock.after(LOOK_MS, () => {
      this.#stopLooking = undefined;
      this.#look();
      if (this.#watchers.size > 0) this.#lookLater();
    });
  }

  #look(): void {
    for (const [call, before] of this.#watchers) {
      const now = this.#statusOf(call.request.service);
      if (now === before) continue;
      this.#watchers.set(call, now);
      call.write(answer(now));
    }
  }

  #statusOf(service: string): Serving {
    if (service !== "" && !this.#options.services().includes(service)) {
      return Serving.SERVICE_UNKNOWN;
    }
    return !this.#isClosed && this.#options.isServing() ? Serving.SERVING : Serving.NOT_SERVING;
  }
}

function answer(now: Serving): HealthCheckResponse {
  return create(HealthCheckResponseSchema, { status: now });
}
