/**
 * Callers that present a certificate in their TLS handshake. One that no authority of ours signed,
 * that is out of date, or that has no name which the operator gave a role, is refused, whatever
 * else the call presents. A token beside a good one decides: a proxy with a certificate of its own
 * carries the calls of many. When its time is over, so is the connection.
 */
import type { Clock } from "../core/clock.ts";
import { RollcallError } from "../core/errors.ts";
import { compileGlob, matchesGlob, type Glob } from "../core/jobs/glob.ts";
import { DEFAULT_NAMESPACE, type InRole, type Principal } from "../core/principals.ts";
import { namesOf, plainName } from "../net/tls/names.ts";
import type { Caller, Peer, PeerTls } from "./caller.ts";
import type { IdentityStep } from "./chain.ts";
import { CredentialConnections } from "./credential-connections.ts";

export interface CertificatesOptions {
  /** Names of certificates, a `*` for any part of one; the first that is there counts. */
  readonly clients: readonly InRole[];
  readonly clock: Clock;
}

/** A certificate that was looked at: once a connection. */
interface Known {
  readonly principal: Principal;
  readonly untilMs: number;
}

export class Certificates implements IdentityStep {
  readonly #clients: readonly { readonly glob: Glob; readonly role: InRole["role"] }[];
  readonly #clock: Clock;
  /** By the moment when their certificates end. */
  readonly #connections: CredentialConnections;
  readonly #known = new WeakMap<Peer, Known>();

  constructor({ clients, clock }: CertificatesOptions) {
    this.#clients = clients.map(({ name, role }) => ({ glob: compileGlob(plainName(name)), role }));
    this.#clock = clock;
    const isLive = (untilMs: string) => clock.wallMs() <= Number(untilMs);
    this.#connections = new CredentialConnections({ clock, isLive });
  }

  authenticate(caller: Caller): Principal | undefined {
    const { peer } = caller;
    if (!peer.tls?.certificate) return undefined;
    const known = this.#known.get(peer) ?? this.#meet(peer, peer.tls);
    if (this.#clock.wallMs() > known.untilMs) throw refused("it is out of date");
    return caller.header("authorization") === undefined ? known.principal : undefined;
  }

  #meet(peer: Peer, tls: PeerTls): Known {
    const known = this.#look(tls);
    this.#known.set(peer, known);
    if (peer.socket) this.#connections.add(String(known.untilMs), peer.socket);
    return known;
  }

  close(): void {
    this.#connections.close();
  }

  #look({ certificate, problem }: PeerTls): Known {
    if (!certificate || problem !== "") throw refused(problem);
    const names = namesOf(certificate);
    for (const { glob, role } of this.#clients) {
      const name = names.find((each) => matchesGlob(glob, each));
      if (name === undefined) continue;
      return { principal: clientNamed(name, role), untilMs: Date.parse(certificate.validTo) };
    }
    throw refused(`none of its names is in tls_clients (${names.join(", ") || "it has none"})`);
  }
}

function clientNamed(name: string, role: InRole["role"]): Principal {
  return { name: `cert:${name}`, kind: "service", namespace: DEFAULT_NAMESPACE, roles: [role] };
}

function refused(why: string): RollcallError {
  return new RollcallError("UNAUTHENTICATED", `the certificate of the client is refused: ${why}`);
}
