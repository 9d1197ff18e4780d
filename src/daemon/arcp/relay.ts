/**
 * ARCP at a member that does not lead. Jobs and sessions live on the leader, so a connection is
 * handed on to it, frame by frame, by the wire between members. The caller is checked here, by the
 * member that it called: a refusal is handed on as well, so that the client hears it in the words
 * of ARCP.
 *
 *   client ══▶ first frame ──▶ caller ──▶ relay ══▶ leader
 *
 * When the leader is lost the connection ends, and the client resumes its session at any member.
 */
import { NOBODY } from "../../core/principals.ts";
import { byOf } from "../../core/by.ts";
import { codeOf, RollcallError } from "../../core/errors.ts";
import { decodeRequest } from "../../wires/arcp/codec/requests.ts";
import type { Greeter } from "../../wires/arcp/server/connection.ts";
import type {
  Transport,
  TransportEnding,
  TransportListener,
} from "../../wires/arcp/server/transport.ts";
import type { MemberRelay, RelayTerms } from "../../wires/members/client/relay.ts";
import { RELAY } from "../limits.ts";

/** The way to the member that leads. */
export type OpenRelay = (terms: RelayTerms) => Promise<MemberRelay>;

const LOST: TransportEnding = { code: 1013, reason: "the node that runs the jobs is gone" };

export function relayTransport(transport: Transport, greet: Greeter, open: OpenRelay): void {
  transport.open(new RelayedConnection(transport, greet, open));
}

class RelayedConnection implements TransportListener {
  readonly #transport: Transport;
  readonly #greet: Greeter;
  readonly #open: OpenRelay;
  #relay: MemberRelay | undefined;
  /** Frames that came before the relay was there. */
  #early: string[] | undefined;
  #earlyBytes = 0;
  #isPaused = false;
  #isOver = false;
  #drained: () => void = () => undefined;

  constructor(transport: Transport, greet: Greeter, open: OpenRelay) {
    this.#transport = transport;
    this.#greet = greet;
    this.#open = open;
  }

  onFrame(frame: string): void {
    if (this.#isOver) return;
    if (this.#relay) return this.#send(this.#relay, frame);
    const isFirst = this.#early === undefined;
    this.#early ??= [];
    this.#early.push(frame);
    this.#earlyBytes += frame.length;
    if (this.#earlyBytes > RELAY.earlyBytes)
      this.#close({ code: 1008, reason: "too much at once" });
    else if (isFirst) void this.#begin(frame);
  }

  onDrained(): void {
    this.#drained();
  }

  onClosed(): void {
    this.#isOver = true;
    this.#drained();
    this.#relay?.close();
  }

  async #begin(hello: string): Promise<void> {
    try {
      const relay = await this.#open(await this.#termsOf(hello));
      if (this.#isOver) return relay.close();
      this.#relay = relay;
      relay.onDrained(() => this.#goOn());
      for (const frame of this.#early ?? []) this.#send(relay, frame);
      this.#early = [];
      await this.#receive(relay);
    } catch {
      this.#close(LOST);
    }
  }

  /** A first frame that is no hello is handed on too: the leader refuses it. */
  async #termsOf(frame: string): Promise<RelayTerms> {
    const decoded = decodeRequest(frame);
    const isHello = decoded.ok && decoded.message.type === "session.hello";
    if (!isHello) return { by: byOf(NOBODY, "arcp") };
    try {
      const by = await this.#greet(decoded.message.token);
      if (by) return { by };
      return { refusal: new RollcallError("UNAUTHENTICATED", "the token is not known") };
    } catch (error) {
      if (error instanceof RollcallError && codeOf(error) !== "INTERNAL") return { refusal: error };
      return { refusal: new RollcallError("INTERNAL", "the token could not be checked") };
    }
  }

  #send(relay: MemberRelay, frame: string): void {
    relay.send(frame);
    if (!relay.isFull || this.#isPaused) return;
    this.#isPaused = true;
    this.#transport.pause?.();
  }

  #goOn(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#transport.resume?.();
  }

  async #receive(relay: MemberRelay): Promise<void> {
    const incoming = relay.frames();
    for (;;) {
      const next = await incoming.next();
      if (next.done) return this.#close(next.value ?? LOST);
      for (const frame of next.value) this.#transport.send(frame);
      await this.#room();
    }
  }

  /** A client that does not read keeps the leader from sending, and nobody else. */
  async #room(): Promise<void> {
    while (!this.#isOver && this.#transport.waitingBytes > RELAY.waitingBytes) {
      await new Promise<void>((resolve) => (this.#drained = resolve));
    }
  }

  #close(ending: TransportEnding): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#relay?.close();
    this.#transport.close(ending);
  }
}
