/** A heartbeat of an A2A agent, beside its bytes: its sender, and the answer to it. */
import type { By } from "../core/by.ts";
import type { CardProblem } from "./cards/problems.ts";

/** The sender of a heartbeat. */
export interface Sender {
  readonly by: By;
  /** The name under which its entries are counted; that of its principal unless said. */
  readonly source?: string;
  /** The one it got at first sight. */
  readonly token?: string | undefined;
  /** Throws where it may not speak for the agent at this URL. */
  readonly check?: ((url: string) => void) | undefined;
}

export type HeartbeatAnswer =
  | {
      readonly ok: true;
      readonly verified: boolean;
      /** When the next one is due. */
      readonly retryAfterS: number;
      /** Issued at first sight. */
      readonly token?: string;
    }
  | { readonly ok: false; readonly problems: readonly CardProblem[] };
