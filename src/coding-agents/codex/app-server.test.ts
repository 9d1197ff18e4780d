import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { FakeAppServer } from "../../../test/support/coding-agents/app-server.ts";
import { useStage } from "../../../test/support/coding-agents/in-process.ts";
import { AppServer, type AppServerOptions, type AppServerNotice } from "./app-server.ts";

const stage = useStage();

interface Connection extends Disposable {
  readonly client: AppServer;
  readonly notices: AppServerNotice[];
  readonly closed: () => number;
}

function connect(path: string, options: Partial<AppServerOptions> = {}): Connection {
  const notices: AppServerNotice[] = [];
  let closed = 0;
  const client = new AppServer({
    path,
    onReady: () => undefined,
    onNotice: (notice) => void notices.push(notice),
    onClose: () => void (closed += 1),
    ...options,
  });
  return { client, notices, closed: () => closed, [Symbol.dispose]: () => client.close() };
}

const errors = () => readFileSync(join(stage.home, "rollcall/hooks/errors.log"), "utf8");

describe("the connection to Codex's app-server", () => {
  test("survives frames that are no JSON, or none of ours", async () => {
    await using server = await FakeAppServer.start(stage.home);
    server.answers.set("thread/loaded/list", () => ({ data: ["t"] }));
    using connection = connect(server.path);
    await vi.waitFor(() => expect(server.asked).toContain("initialized"));
    for (const bad of ["{", "", "null", "7", "[]", '{"id":99,"result":{}}']) server.tell(bad);
    server.tell({ method: "thread/status/changed", params: { threadId: "t" }, emittedAtMs: 5 });
    await vi.waitFor(() => expect(connection.notices).toHaveLength(1));
    expect(connection.notices[0]).toMatchObject({ method: "thread/status/changed", atMs: 5 });
    expect(await connection.client.ask("thread/loaded/list", {})).toEqual({ data: ["t"] });
  });

  test("gives up a question that is not answered in time", async () => {
    await using server = await FakeAppServer.start(stage.home);
    using connection = connect(server.path, { patienceMs: 200 });
    await vi.waitFor(() => expect(server.asked).toContain("initialized"));
    expect(await connection.client.ask("thread/read", {})).toBeUndefined();
  });

  test("answers with nothing once it is closed, and while it closes", async () => {
    await using server = await FakeAppServer.start(stage.home);
    using connection = connect(server.path);
    await vi.waitFor(() => expect(server.asked).toContain("initialized"));
    const asked = connection.client.ask("thread/read", {});
    connection.client.close();
    expect(await asked).toBeUndefined();
    await vi.waitFor(() => expect(connection.closed()).toBe(1));
    expect(await connection.client.ask("thread/read", {})).toBeUndefined();
  });

  test("ends where nobody answers: it is not the program that we take it for", async () => {
    await using server = await FakeAppServer.start(stage.home);
    server.answers.delete("initialize");
    const onReady = vi.fn<() => void>();
    using connection = connect(server.path, { patienceMs: 200, onReady });
    await vi.waitFor(() => expect(connection.closed()).toBe(1), { timeout: 10_000 });
    expect(onReady).not.toHaveBeenCalled();
  });

  test("a listener that fails, at once or later, is written down and ends nothing", async () => {
    await using server = await FakeAppServer.start(stage.home);
    using connection = connect(server.path, {
      onReady: () => Promise.reject(new Error("no room for the list")),
      onNotice: () => {
        throw new Error("no room for the notice");
      },
    });
    await vi.waitFor(() => expect(errors()).toContain("no room for the list"));
    server.tell({ method: "thread/started", params: {} });
    await vi.waitFor(() => expect(errors()).toContain("no room for the notice"));
    expect(connection.closed()).toBe(0);
  });
});
