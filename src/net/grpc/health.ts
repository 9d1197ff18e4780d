/**
 * The standard health service: load balancers and probes ask it, by service or as a whole. All
 * services here stand on one engine, so they are well or unwell together.
 */
import { create } from "@bufbuild/protobuf";
import { RollcallError } from "../../core/errors.ts";
import type { Handlers } from "./service.ts";
import {
  HealthCheckResponse_ServingStatus as Serving,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
  type Health as HealthService,
  type HealthCheckResponse,
} from "./gen/grpc/health/v1/health_pb.ts";

/** How often watchers are looked after: sooner than anybody who asks instead would ask again. */
const LOOK_MS = 500;
/** Probes and balancers; agents have no reason to. */
const MAX_WATCHERS = 1_000;

export interface HealthOptions {
  readonly isServing: () => boolean;
  /** The full names of all services. */
  readonly services: () => readonly string[];
  /** Calls back after so many milliseconds, unless the function it returns is called before. */
  readonly after: (ms: number, then: () => void) => () => void;
}

export class Health {
  readonly #options: HealthOptions;
  #watchers = 0;
  /** Wakes all watchers; there while somebody waits for it. */
  #look: { readonly came: Promise<void>; readonly come: () => void } | undefined;
  #isClosed = false;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  get handlers(): Handlers<typeof HealthService> {
    return {
      check: async ({ service }) => {
        const now = this.#statusOf(service);
        if (now !== Serving.SERVICE_UNKNOWN) return answer(now);
        throw new RollcallError("NOT_FOUND", `no service ${service}`);
      },
      list: async () => {
        const names = ["", ...this.#options.services()];
        const statuses = names.map((name) => [name, answer(this.#statusOf(name))] as const);
        return create(HealthListResponseSchema, { statuses: Object.fromEntries(statuses) });
      },
      watch: ({ service }, { signal }) => this.#watch(service, signal),
    };
  }

  /** Tells watchers that it is over, and ends them. */
  close(): void {
    this.#isClosed = true;
    this.#look?.come();
  }

  /** The status now, then whenever it is another one. */
  async *#watch(service: string, signal: AbortSignal): AsyncGenerator<HealthCheckResponse> {
    if (this.#watchers >= MAX_WATCHERS) {
      const message = `there are already ${MAX_WATCHERS} watchers of health`;
      throw new RollcallError("LIMIT_EXCEEDED", message);
    }
    this.#watchers += 1;
    try {
      let before: Serving | undefined;
      while (!signal.aborted) {
        const now = this.#statusOf(service);
        if (now !== before) yield answer(now);
        before = now;
        if (this.#isClosed) return;
        await this.#nextLook();
      }
    } finally {
      this.#watchers -= 1;
    }
  }

  /** One look for all who wait. */
  #nextLook(): Promise<void> {
    if (this.#look) return this.#look.came;
    let wake: () => void = () => undefined;
    const came = new Promise<void>((resolve) => (wake = resolve));
    const stop = this.#options.after(LOOK_MS, () => this.#look?.come());
    const come = () => {
      this.#look = undefined;
      stop();
      wake();
    };
    this.#look = { came, come };
    return came;
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
