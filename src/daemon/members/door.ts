/**
 * The door for other members of the cluster. Whoever gets in acts for any caller, so it is the
 * narrowest of all: with certificates, only those that the cluster's own authority signed; without
 * them only the user that runs this daemon, on this machine.
 */
import type { Server } from "node:net";
import { ownBy, type By } from "../../core/by.ts";
import { RollcallError } from "../../core/errors.ts";
import { LOCAL, type Principal } from "../../core/principals.ts";
import { peerOf, type Authenticator, type Peer } from "../../identity/caller.ts";
import { SERVER_LIMITS } from "../../net/grpc/limits.ts";
import { GrpcServer } from "../../net/grpc/server.ts";
import type { Handlers } from "../../net/grpc/service.ts";
import { frontOf } from "../../net/tls/front.ts";
import type { KeyPair } from "../../net/tls/pair.ts";
import { newWaiting } from "../../net/waiting.ts";
import { MemberService } from "../../wires/members/gen/rollcall/members/v1/members_pb.ts";
import { MEMBER_SERVICE_LIMITS } from "../../wires/members/server/service.ts";
import type { Address } from "../address.ts";
import { MEMBER_CONNECTIONS } from "../limits.ts";
import { bindError, listen } from "../listen.ts";
import { Sockets } from "../sockets.ts";

export interface MemberDoorOptions {
  readonly handlers: Handlers<typeof MemberService>;
  /** Absent: connections are plain, and from this machine. */
  readonly pair: KeyPair | undefined;
  /** Of plain connections: by the users of this machine. */
  readonly authenticator: Authenticator;
  readonly onFault: (method: string, error: unknown) => void;
}

const MEMBER: By = ownBy("daemon");

export class MemberDoor {
  readonly #grpc: GrpcServer;
  readonly #front: Server;
  readonly #sockets: Sockets;
  readonly #waiting = newWaiting();

  constructor({ handlers, pair, authenticator, onFault }: MemberDoorOptions) {
    this.#grpc = new GrpcServer({
      limits: SERVER_LIMITS,
      waiting: this.#waiting,
      onFault,
      admit: (caller) => {
        const peer = peerOf(caller.socket);
        if (pair) return certified(peer);
        const user = authenticator.authenticate({
          peer,
          wire: "grpc",
          header: (name) => caller.header(name),
          headerNames: () => caller.headerNames(),
        });
        return user instanceof Promise ? user.then(own) : own(user);
      },
    });
    this.#grpc.add(MemberService, handlers, MEMBER_SERVICE_LIMITS);
    this.#front = frontOf(this.#grpc.listener, { pair, protocols: ["h2"] });
    this.#sockets = new Sockets(this.#grpc.listener, { max: MEMBER_CONNECTIONS });
    this.#sockets.followFront(this.#front);
  }

  async listen(address: Address): Promise<Address> {
    try {
      return await listen(this.#front, address);
    } catch (error) {
      throw bindError("cluster-addr", address, error);
    }
  }

  /** Idempotent. Calls under way are cut: whoever made them asks the next leader. */
  async close(): Promise<void> {
    this.#front.close();
    this.#grpc.stopAccepting();
    await this.#sockets.drain(0, () => undefined);
    for (const kind of Object.values(this.#waiting)) kind.close();
  }
}

function certified({ tls }: Peer): By {
  if (!tls) {
    const fix = "give that node cluster_cert, cluster_key and cluster_ca";
    throw new RollcallError("UNAUTHENTICATED", `members of this cluster speak TLS: ${fix}`);
  }
  if (tls.problem === "") return MEMBER;
  const message = `the certificate of that member is not one of cluster_ca: ${tls.problem}`;
  throw new RollcallError("UNAUTHENTICATED", message);
}

function own(principal: Principal): By {
  if (principal === LOCAL) return MEMBER;
  const message = `${principal.name} is not the user that runs this member`;
  throw new RollcallError("PERMISSION_DENIED", message);
}
