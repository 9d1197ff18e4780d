/**
 * Carries frames between an ARCP client and a runtime: a WebSocket, the standard streams of a
 * child, or a pair in memory. Both ends see the same small contract, so neither knows which.
 *
 *   created --open(listener)--> delivering --close() | the peer left--> closed (onClosed, once)
 *
 * A transport never decides what to do about a slow peer: it says how much waits, and when that
 * is gone. The sender stops sending.
 */
export interface Transport {
  /** Starts delivery. What came earlier waits, within the transport's bounds. Called once. */
  open(listener: TransportListener): void;
  /**
   * Hands over one frame. After the end it does nothing: `onClosed` has said so. Throws TOO_LARGE
   * for a frame beyond `maxFrameBytes`; nothing of it was sent.
   */
  send(frame: string): void;
  /** The largest frame, in bytes of UTF-8, that any peer behind this takes. */
  readonly maxFrameBytes: number;
  /** Bytes that were handed to `send` and that the peer has not taken yet. */
  readonly waitingBytes: number;
  /** Delivers nothing more until `resume`: what comes waits at the peer, which notices. */
  pause?(): void;
  resume?(): void;
  /** Ends it after what was sent. Idempotent; `onClosed` follows. */
  close(ending?: TransportEnding): void;
}

export interface TransportListener {
  /** One whole frame, as text. Frames beyond the size limit never arrive: they close with 1009. */
  onFrame(frame: string): void;
  /** Nothing waits any more. */
  onDrained(): void;
  /** The last call, exactly once, whichever side ended it. */
  onClosed(ending: TransportEnding): void;
}

/** Why it ended, in the codes of WebSocket (RFC 6455, 7.4); the other transports borrow them. */
export interface TransportEnding {
  readonly code: number;
  readonly reason: string;
}
