import { afterEach, beforeEach, expect, test } from "vitest";
import { openGround, type TestGround } from "../../../test/support/mcp/fixture.ts";
import { namedBy } from "../../core/by.ts";
import { Connections } from "./connections.ts";
import { mcpServer } from "./server.ts";

let ground: TestGround;

beforeEach(async () => {
  ground = await openGround();
});

afterEach(() => ground.close());

test("principals share the connections, and one that is closed is free again", async () => {
  const { options, changes, clock } = ground;
  const connections = new Connections({ clock, maxConnections: 4 });
  const open = (name: string) =>
    connections.open(namedBy(name, "mcp"), ({ era }) =>
      mcpServer({
        ground: options,
        by: namedBy(name, "mcp"),
        version: "1",
        changes,
        connection: { era },
      }),
    );
  const first = open("token:ann");
  open("token:ann");
  expect(() => open("token:ann")).toThrow(
    "token:ann already has 2 MCP connections: its share of the limit 4 is 2",
  );
  open("token:bob");
  await first.body?.cancel();
  expect(connections.size).toBe(2);
  open("token:ann");
  await connections.close();
  expect(connections.size).toBe(0);
});
