import { describe, expect, onTestFinished, test, vi } from "vitest";
import { LIBRARY } from "../../core/by.ts";
import { systemClock } from "../../machine/clock.ts";
import { KeyPair } from "../../net/tls/pair.ts";
import { LocalUsers } from "../../identity/local-users.ts";
import { GrpcChannel } from "../../net/grpc/client-channel.ts";
import { MemberClient } from "../../wires/members/client/forwarder.ts";
import { MEMBER_WIRE } from "../../wires/members/limits.ts";
import { memberService } from "../../wires/members/server/service.ts";
import { TestClock } from "../../../test/support/engine/fixture.ts";
import { forwarderConformance, ScriptedTarget } from "../../../test/support/forward/conformance.ts";
import { anybodyHere, FREE } from "../../../test/support/daemon/fixture.ts";
import { chainOf } from "../../../test/support/identity/chain.ts";
import { authority, pairFolder, pairFor } from "../../../test/support/tls/pairs.ts";
import { formatAddress } from "../address.ts";
import { MemberDoor, type MemberDoorOptions } from "./door.ts";

const GREETING = { node: "a", instance: "i1", logId: "l1", mode: "leading", head: 7, version: "1" };

async function openDoor(options: Partial<MemberDoorOptions> = {}) {
  const target = new ScriptedTarget();
  const faults: unknown[] = [];
  const handlers = memberService({
    target,
    greeting: () => GREETING,
    stepDown: async () => undefined,
    relays: { accept: () => undefined },
  });
  const onFault = (_method: string, error: unknown) => faults.push(error);
  const door = new MemberDoor({
    handlers,
    pair: undefined,
    authenticator: anybodyHere(),
    onFault,
    ...options,
  });
  const address = formatAddress(await door.listen(FREE));
  return { door, target, address, faults };
}

describe("members over gRPC", () => {
  forwarderConformance(async () => {
    const { door, target, address, faults } = await openDoor();
    const forwarder = new MemberClient({
      addressOf: (node) => (node === "a" ? address : undefined),
      timers: systemClock,
    });
    return {
      forwarder,
      target,
      async [Symbol.asyncDispose]() {
        forwarder.close();
        await door.close();
        expect(faults).toEqual([]);
      },
    };
  });

  test("a node that is gone is told at once", async () => {
    const { door, address } = await openDoor();
    using client = clientOf(address);
    expect(await client.barrier("a")).toBe(7);
    await door.close();
    await expect(client.barrier("a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("a call that is under way when the certificate is renewed is answered", async () => {
    const { door, target, address } = await openDoor();
    let answer: (head: number) => void = () => undefined;
    const held = new Promise<number>((resolve) => {
      answer = resolve;
    });
    const asked = vi.spyOn(target, "barrierHere").mockReturnValueOnce(held);
    using client = clientOf(address);
    const first = client.barrier("a");
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    client.renew();
    expect(await client.barrier("a")).toBe(7);
    answer(6);
    expect(await first).toBe(6);
    await door.close();
  });

  test("a connection with a former certificate ends once its calls had their time", async () => {
    const { door, address } = await openDoor();
    const clock = new TestClock();
    const client = new MemberClient({ addressOf: () => address, timers: clock });
    const close = vi.spyOn(GrpcChannel.prototype, "close");
    onTestFinished(() => close.mockRestore());
    expect(await client.barrier("a")).toBe(7);
    client.renew();
    await clock.advance(MEMBER_WIRE.executeMs - 1);
    expect(close).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(close).toHaveBeenCalledTimes(1);
    expect(await client.barrier("a")).toBe(7);
    client.renew();
    client.close();
    client.close();
    expect(close).toHaveBeenCalledTimes(2);
    await door.close();
  });

  test("who answers at an address says its name", async () => {
    const { door, address } = await openDoor();
    using client = clientOf(address);
    expect(await client.greet(address)).toEqual(GREETING);
    await door.close();
  });

  test("a command that this version does not know is refused, not misunderstood", async () => {
    const { door, address } = await openDoor();
    using client = clientOf(address);
    const command = { type: "agent.teleport" } as unknown as { type: "task.claim"; agentId: "" };
    await expect(client.execute("a", command, LIBRARY)).rejects.toMatchObject({
      code: "UNIMPLEMENTED",
      message: "this version knows no command agent.teleport: upgrade the node that leads",
    });
    await door.close();
  });
});

describe("strangers are not let in as members", () => {
  test("another user of this machine", async () => {
    const users = { userOf: async () => 4711 };
    const step = new LocalUsers({ trust: "user", allowed: [], users, uid: 1000 });
    const { door, address } = await openDoor({ authenticator: chainOf([step]) });
    using client = clientOf(address);
    await expect(client.barrier("a")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await door.close();
  });

  test("without a certificate, with one that signed itself, or of another authority", async () => {
    const [own, other] = [authority(), authority()];
    using folder = pairFolder(pairFor(["127.0.0.1"], { issuer: own }), own);
    const quiet = { onRenewal: () => undefined, onTrouble: () => undefined };
    const pair = await KeyPair.open({ files: folder.files, clock: systemClock, ...quiet });
    const { door, address } = await openDoor({ pair });
    const ca = own.cert;
    const member = pairFor(["127.0.0.1"], { issuer: own });
    using good = clientOf(address, { ca, cert: member.cert, key: member.key });
    expect(await good.barrier("a")).toBe(7);
    const strangers = [
      undefined,
      { ca },
      { ca, ...pairFor(["127.0.0.1"]) },
      { ca, ...pairFor(["127.0.0.1"], { issuer: other }) },
    ];
    for (const trust of strangers) {
      using stranger = clientOf(address, trust);
      await expect(stranger.barrier("a")).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    }
    // The other way round: a member does not talk to a leader that its authority did not sign.
    using deceived = clientOf(address, { ca: other.cert, cert: member.cert, key: member.key });
    await expect(deceived.barrier("a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    pair.close();
    await door.close();
  });
});

function clientOf(address: string, trust?: { ca: string; cert?: string; key?: string }) {
  const client = new MemberClient({
    addressOf: () => address,
    timers: systemClock,
    ...(trust && { trust: () => trust }),
  });
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}
