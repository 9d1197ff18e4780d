/** For tests: what came out of a transport. */
import type {
  Transport,
  TransportEnding,
  TransportListener,
} from "../../../src/wires/arcp/server/transport.ts";

export class Heard implements TransportListener {
  readonly frames: string[] = [];
  drains = 0;
  ending: TransportEnding | undefined;
  endings = 0;

  onFrame(frame: string): void {
    this.frames.push(frame);
  }

  onDrained(): void {
    this.drains += 1;
  }

  onClosed(ending: TransportEnding): void {
    this.ending = ending;
    this.endings += 1;
  }
}

/** Opens it and gathers what it tells. */
export function hear(transport: Transport): Heard {
  const heard = new Heard();
  transport.open(heard);
  return heard;
}
