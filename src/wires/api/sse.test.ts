import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { TestClock } from "../../../test/support/engine/fixture.ts";
import { listen, type Listener } from "../../../test/support/daemon/stream.ts";
import { LIBRARY } from "../../core/by.ts";
import { RollcallError } from "../../core/errors.ts";
import { EVENT_STREAM } from "./limits.ts";
import { SseStreams, type Frames } from "./sse.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A stream whose frames and whose caller's rights the test decides on. */
class Subject {
  readonly clock = new TestClock();
  readonly streams = new SseStreams({ clock: this.clock });
  isAllowed = true;
  isClosed = false;
  #next: (frame: Buffer | undefined) => void = () => undefined;

  tell(text: string): void {
    this.#next(Buffer.from(`data: "${text}"\n\n`));
  }

  send(response: ServerResponse): Promise<void> {
    const close = () => {
      this.isClosed = true;
      this.#next(undefined);
    };
    const check = () => {
      if (!this.isAllowed) throw new RollcallError("PERMISSION_DENIED", "no longer");
    };
    const start = () => ({ frames: this.#frames(), close });
    return this.streams.send(response, { by: LIBRARY, start, check });
  }

  async *#frames(): Frames {
    for (;;) {
      const frame = await new Promise<Buffer | undefined>((resolve) => (this.#next = resolve));
      if (!frame) return false;
      yield frame;
    }
  }
}

async function opened(): Promise<{ readonly subject: Subject; readonly listener: Listener }> {
  const subject = new Subject();
  const server = createServer((_, response) => void subject.send(response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close().closeAllConnections());
  const listener = await listen((server.address() as AddressInfo).port, "/");
  subject.tell("first");
  await vi.waitFor(() => expect(listener.text).toContain("first"));
  return { subject, listener };
}

test("a caller that is denied meanwhile loses a silent stream within a second", async () => {
  const { subject, listener } = await opened();
  await subject.clock.advance(10_000);
  expect(listener.isEnded).toBe(false);
  subject.isAllowed = false;
  expect(EVENT_STREAM.lookMs).toBeLessThan(1_000);
  await subject.clock.advance(EVENT_STREAM.lookMs);
  await vi.waitFor(() => expect(listener.isEnded).toBe(true));
  expect(listener.messages.at(-1)).toMatchObject({
    event: "error",
    data: { error: { code: "PERMISSION_DENIED", message: "no longer" } },
  });
  expect(subject.isClosed).toBe(true);
  expect(subject.streams.open).toBe(0);
});

test("a caller that is denied meanwhile hears nothing more, not even before that", async () => {
  const { subject, listener } = await opened();
  subject.isAllowed = false;
  subject.tell("second");
  await vi.waitFor(() => expect(listener.isEnded).toBe(true));
  expect(listener.text).not.toContain("second");
});

test("a stream that is over leaves no timer", async () => {
  const { subject, listener } = await opened();
  expect(subject.clock.timers).toBeGreaterThan(0);
  listener.response.destroy();
  await vi.waitFor(() => expect(subject.streams.open).toBe(0));
  expect(subject.clock.timers).toBe(0);
});
