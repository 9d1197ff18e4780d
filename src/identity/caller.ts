/** The facts that a door has about a caller, and the question every door asks of them. */
import type { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { secretHash } from "../machine/secrets.ts";
import { AGENT_KEY, byOf, withAgentKey, type By, type Wire } from "../core/by.ts";
import type { Principal } from "../core/principals.ts";
import type { ConnectionEnds } from "./connections.ts";

/** The other end of a connection. */
export interface Peer {
  /** Its address, from the kernel. */
  readonly address: string | undefined;
  /** Undefined where it is not a TCP connection, or it is closed already. */
  readonly ends: ConnectionEnds | undefined;
  /** Whether it came by the daemon's own unix socket, which only its user and root can open. */
  readonly isOwnSocket: boolean;
  /** Absent where the connection is plain. */
  readonly tls?: PeerTls;
  /** The connection itself; absent where a test made the peer up. */
  readonly socket?: Socket;
  /** The answer of the operating system, once it was asked. */
  user?: Principal;
  /** The caller of the last call. */
  by?: By;
  /** The last key of an agent that came, and the caller with it: most connections have one. */
  keyed?: { readonly key: string; readonly without: By; readonly by: By };
}

/** Of a connection over TLS. */
export interface PeerTls {
  /** The certificate that the other end presented, if any. */
  readonly certificate: X509Certificate | undefined;
  /** Why no authority of ours vouches for it; empty where one does. */
  readonly problem: string;
}

export interface Caller {
  readonly peer: Peer;
  /** The door that it came to. */
  readonly wire: Wire;
  /** Its first message may have the credential that the call itself has not. */
  readonly mayPresentLater?: boolean;
  /** A header, or gRPC metadata, by its lower-case name. */
  header(name: string): string | undefined;
  /** In lower case. */
  headerNames(): Iterable<string>;
  /** The address that a trusted proxy named, once it was asked for. */
  forwardedFor?: string;
}

export interface Authenticator {
  /** Throws PERMISSION_DENIED or UNAUTHENTICATED; the message never repeats a secret. */
  authenticate(caller: Caller): Principal | Promise<Principal>;
}

const peers = new WeakMap<Socket, Peer>();

/** The same for every call of one connection. */
export function peerOf(socket: Socket): Peer {
  const known = peers.get(socket);
  if (known) return known;
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  const isComplete = remoteAddress && remotePort && localAddress && localPort;
  const peer: Peer = {
    address: remoteAddress,
    ends: isComplete ? { remoteAddress, remotePort, localAddress, localPort } : undefined,
    isOwnSocket: false,
    ...("encrypted" in socket && { tls: tlsOf(socket as TLSSocket) }),
    socket,
  };
  peers.set(socket, peer);
  return peer;
}

/** Its handshake is over. */
function tlsOf(socket: TLSSocket): PeerTls {
  const { authorizationError: error } = socket;
  const problem = socket.authorized ? "" : String((error as Error | undefined) ?? "not signed");
  return { certificate: socket.getPeerX509Certificate(), problem };
}

/** Called for a connection of the daemon's own unix socket, before anything is read from it. */
export function markOwnSocket(socket: Socket): void {
  peers.set(socket, { address: undefined, ends: undefined, isOwnSocket: true, socket });
}

/** The caller that was let in; for most calls of a connection that of the call before. */
export function byOfCall(call: Caller, principal: Principal, wire: Wire): By {
  const { peer, forwardedFor } = call;
  const { by: last, isOwnSocket, address = "" } = peer;
  const from = forwardedFor ?? (isOwnSocket ? "socket" : address);
  if (last?.principal !== principal || last.wire !== wire || last.peer !== from) {
    peer.by = byOf(principal, wire, from);
  }
  const by = peer.by ?? byOf(principal, wire);
  const key = call.header(AGENT_KEY);
  return key === undefined ? by : byWithKey(peer, by, key);
}

function byWithKey(peer: Peer, without: By, key: string): By {
  if (peer.keyed?.key !== key || peer.keyed.without !== without) {
    peer.keyed = { key, without, by: withAgentKey(without, secretHash(key)) };
  }
  return peer.keyed.by;
}
