/** The numbers of HTTP/2 (RFC 9113). */

export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

export const FLAG = {
  ACK: 0x1,
  END_STREAM: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const;

export const SETTING = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const;

export const ERROR = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
} as const;

export type ErrorNumber = (typeof ERROR)[keyof typeof ERROR];

/** A client's first bytes. */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

export const FRAME_HEADER_BYTES = 9;
/** The defaults of both sides before SETTINGS. */
export const DEFAULT_WINDOW = 65_535;
export const DEFAULT_FRAME_BYTES = 16_384;
export const MAX_WINDOW = 2 ** 31 - 1;

/** The connection cannot go on: everybody on it is told, and it ends. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly number: ErrorNumber;

  constructor(number: ErrorNumber, message: string) {
    super(message);
    this.number = number;
  }
}

export function wrong(message: string): ConnectionError {
  return new ConnectionError(ERROR.PROTOCOL_ERROR, message);
}

export function tooLong(): ConnectionError {
  return new ConnectionError(ERROR.FRAME_SIZE_ERROR, "a frame of the wrong size");
}
