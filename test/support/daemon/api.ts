/** For tests of the HTTP API: all of it on a real door, over an engine whose clock is ours. */
import { DirectoryService } from "../../../src/directory/directory.ts";
import { SearchThread } from "../../../src/search/thread.ts";
import { TestWeb } from "../directory/fixture.ts";
import { TaskClaims } from "../../../src/engine/claims.ts";
import { Fleet } from "../../../src/fleet/fleet.ts";
import type { Fetcher } from "../../../src/net/fetch/fetcher.ts";
import { openEngine, type Fixture } from "../engine/fixture.ts";
import { OutpostService } from "../../../src/outposts/outposts.ts";
import { a2aMount } from "../../../src/wires/a2a/server/a2a.ts";
import { permitBy } from "../../../src/operations/access.ts";
import type { OperationServices } from "../../../src/operations/operation.ts";
import { operations } from "../../../src/operations/table.ts";
import { SseStreams } from "../../../src/wires/api/sse.ts";
import { apiRoutes } from "../../../src/wires/api/routes.ts";
import { ask, openDoor, type Asked, type OpenDoor } from "./fixture.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly status: number;
  readonly body: Fields;
}

export interface Api extends Fixture {
  readonly opened: OpenDoor;
  readonly claims: TaskClaims;
  readonly fleet: Fleet;
  readonly outposts: OutpostService;
  readonly directory: DirectoryService;
  /** How many are open, of either kind. */
  readonly openStreams: number;
  get(path: string): Promise<Reply>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  close(): Promise<void>;
}

/** Nobody is there. */
const NOWHERE: Pick<Fetcher, "first" | "text"> = new TestWeb();

export const NO_AUDIT: OperationServices["audit"] = {
  list: async () => ({ entries: [], reachesBackToMs: 0 }),
};

/** Every answer must match the description of its operation, to the last field. */
function mustBeAsDescribed(method: string, path: string, answer: unknown): void {
  const { pathname } = new URL(path, "http://localhost");
  const found = operations().find(
    ([, operation]) =>
      (operation.effect === "reads") === (method === "GET") &&
      new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
  found?.[1].output.parse(answer);
}

export async function openApi(
  search: OperationServices["search"] = { find: async () => [] },
  fetcher = NOWHERE,
): Promise<Api> {
  const fixture = await openEngine();
  const { engine, clock } = fixture;
  const claims = new TaskClaims({ engine });
  const fleet = new Fleet({ engine, clock });
  const outposts = new OutpostService({ engine, clock, ownHosts: ["here"] });
  const directory = new DirectoryService({
    engine,
    clock,
    fetcher,
    thread: new SearchThread({
      embedder: { embed: async (texts) => texts.map(() => new Float32Array(2)) },
    }),
  });
  const streams = new SseStreams({ clock, maxStreams: 3 });
  const lookers = new SseStreams({ clock, maxStreams: 2 });
  const opened = await openDoor();
  opened.door.mount(a2aMount({ directory, permit: permitBy(engine), version: "own" }));
  opened.door.mount({
    routes: apiRoutes({
      engine,
      permit: permitBy(engine),
      claims,
      fleet,
      outposts,
      directory,
      streams,
      lookers,
      clock,
      search,
      audit: NO_AUDIT,
      status: () => {
        throw new Error("nobody asks for it here");
      },
      metrics: { contentType: "text/plain", page: async () => "" },
    }),
  });
  const call = async (path: string, asked: Asked): Promise<Reply> => {
    const { status, body } = await ask(opened.port, path, asked);
    const reply = { status, body: JSON.parse(body) as Fields };
    if (status === 200) mustBeAsDescribed(asked.method ?? "GET", path, reply.body);
    return reply;
  };
  return {
    ...fixture,
    opened,
    claims,
    fleet,
    outposts,
    directory,
    get openStreams() {
      return streams.open + lookers.open;
    },
    get: (path) => call(path, {}),
    post: (path, body, headers = {}) =>
      call(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    async close() {
      claims.close();
      fleet.close();
      await directory.close();
      await opened.door.close(0);
      await engine.close();
    },
  };
}
