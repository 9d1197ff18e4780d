/** The settings of a client (RFC 9113, 6.5) that matter to a server that pushes nothing. */
import {
  ConnectionError,
  DEFAULT_FRAME_BYTES,
  ERROR,
  MAX_WINDOW,
  SETTING,
  tooLong,
  wrong,
} from "./codes.ts";

const ENTRY_BYTES = 6;
/** In one frame: there are 6 settings, and clients may send some that mean nothing. */
const ENTRIES_MOST = 32;

/** The window that streams have from now on; the last counts. Throws where a value cannot be. */
export function initialWindowIn(payload: Buffer): number | undefined {
  if (payload.length % ENTRY_BYTES !== 0) throw tooLong();
  if (payload.length > ENTRY_BYTES * ENTRIES_MOST) {
    throw new ConnectionError(ERROR.ENHANCE_YOUR_CALM, "too many settings in one frame");
  }
  let window: number | undefined;
  for (let at = 0; at < payload.length; at += ENTRY_BYTES) {
    const value = payload.readUInt32BE(at + 2);
    switch (payload.readUInt16BE(at)) {
      case SETTING.ENABLE_PUSH:
        if (value > 1) throw wrong("ENABLE_PUSH is neither 0 nor 1");
        break;
      case SETTING.INITIAL_WINDOW_SIZE:
        if (value > MAX_WINDOW) {
          throw new ConnectionError(ERROR.FLOW_CONTROL_ERROR, "INITIAL_WINDOW_SIZE");
        }
        window = value;
        break;
      case SETTING.MAX_FRAME_SIZE:
        if (value < DEFAULT_FRAME_BYTES || value > 2 ** 24 - 1) {
          throw wrong(`MAX_FRAME_SIZE ${value}`);
        }
        break;
    }
  }
  return window;
}
