/** Who a WebSocket of ARCP belongs to once its hello said so. */
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import type { By } from "../../core/by.ts";
import { RollcallError } from "../../core/errors.ts";
import { LOCAL } from "../../core/principals.ts";
import { chainOf } from "../../../test/support/identity/chain.ts";
import { byRoles, openDoor, say, type OpenDoor } from "../../../test/support/daemon/fixture.ts";
import { arcpMount } from "./mount.ts";

let opened: OpenDoor;

afterEach(() => opened.door.close(0));

type Greet = (token: string) => By | undefined | Promise<By | undefined>;

/** A door where nobody is known but by the token of a hello, which is a name and a role. */
async function ground(connections: number) {
  const told: string[] = [];
  const greets: Greet[] = [];
  opened = await openDoor({ authenticator: chainOf([NOT_KNOWN]), limits: { connections } });
  opened.door.mount(
    arcpMount({
      arcp: { accept: (_transport, greet) => void greets.push(greet) },
      tokens: {
        hello: (token) => {
          const [name = "", role] = token.split("=");
          if (role !== "viewer" && role !== "agent") throw NOT_KNOWN_TOKEN;
          return { ...LOCAL, name, roles: [role] };
        },
      },
      permit: byRoles,
      onStranger: ({ wire, peer }, reason) => told.push(`${wire} ${peer}: ${reason}`),
    }),
  );
  const connect = async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${opened.port}/arcp`);
    await once(socket, "open");
    await vi.waitFor(() => expect(greets.length).toBeGreaterThan(0));
    return { socket, greet: greets.pop() as Greet };
  };
  return { told, connect };
}

const NOT_KNOWN_TOKEN = new RollcallError("UNAUTHENTICATED", "the token is not known");
const NOT_KNOWN = { authenticate: () => undefined };

test("a connection that its hello made known is not cut for one that says nothing", async () => {
  const { connect } = await ground(2);
  const { socket, greet } = await connect();
  expect(await greet("token:ci=agent")).toMatchObject({ principal: { name: "token:ci" } });
  const [first, second] = [say(opened.port, ""), say(opened.port, "")];
  await first.closed;
  expect(socket.readyState).toBe(WebSocket.OPEN);
  second.socket.destroy();
  socket.terminate();
});

test("connections by hello are shared among principals", async () => {
  const { connect } = await ground(4);
  const all = [await connect(), await connect(), await connect()];
  const [one, two, three] = all;
  await one?.greet("token:ci=agent");
  await two?.greet("token:ci=agent");
  await expect(three?.greet("token:ci=agent")).rejects.toThrow("its share of the limit 4 is 2");
  await three?.greet("token:bob=agent");
  for (const { socket } of all) socket.terminate();
});

test("a hello that is refused is told of, by the wire and the peer", async () => {
  const { told, connect } = await ground(4);
  const { socket, greet } = await connect();
  expect(told).toEqual([]);
  await expect(greet("wrong")).rejects.toThrow("the token is not known");
  expect(told).toEqual(["arcp 127.0.0.1: the token is not known"]);
  await expect(greet("token:eve=viewer")).rejects.toThrow("token:eve (viewer) may not job.submit");
  socket.terminate();
});
