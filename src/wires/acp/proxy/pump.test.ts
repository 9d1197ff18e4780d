import { PassThrough, Writable } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { Pump } from "./pump.ts";

/** A reader that takes nothing until it is told to. */
function slowReader() {
  const taken: Buffer[] = [];
  let release: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark: 4,
    write(chunk: Buffer, _, done) {
      taken.push(chunk);
      release = done;
    },
  });
  const read = () => {
    const done = release;
    release = undefined;
    done?.();
  };
  return { stream, read, text: () => Buffer.concat(taken).toString() };
}

function quickReader() {
  const stream = new PassThrough();
  const taken: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => taken.push(chunk));
  return { stream, text: () => Buffer.concat(taken).toString() };
}

describe("a pump", () => {
  test("stops reading while its reader is behind, and goes on when it has caught up", async () => {
    const from = new PassThrough();
    const to = slowReader();
    const pump = new Pump({ from, to: to.stream });
    from.write("abcdef");
    await vi.waitFor(() => expect(pump.isCongested).toBe(true));
    expect(from.isPaused()).toBe(true);
    to.read();
    await vi.waitFor(() => expect(pump.isCongested).toBe(false));
    expect(from.isPaused()).toBe(false);
    expect(to.text()).toBe("abcdef");
  });

  test("hands everything on before it says that it is done", async () => {
    const from = new PassThrough();
    const to = quickReader();
    const pump = new Pump({ from, to: to.stream });
    from.end("no newline at the end");
    await pump.done;
    expect(to.text()).toBe("no newline at the end");
    expect(to.stream.writableEnded).toBe(true);
  });

  test("closes its source when nobody reads any more, so that the writer learns it", async () => {
    const from = new PassThrough();
    const to = quickReader();
    const pump = new Pump({ from, to: to.stream });
    to.stream.destroy(new Error("EPIPE"));
    await pump.done;
    expect(from.destroyed).toBe(true);
  });

  test("goes on when whoever listens throws", async () => {
    const from = new PassThrough();
    const to = quickReader();
    const tap = vi.fn(() => {
      throw new Error("a fault of the observer");
    });
    const pump = new Pump({ from, to: to.stream, tap });
    from.write("one\n");
    await vi.waitFor(() => expect(to.text()).toBe("one\n"));
    from.end("two\n");
    await pump.done;
    expect(to.text()).toBe("one\ntwo\n");
    expect(tap).toHaveBeenCalledTimes(1);
  });

  test("puts a line between two lines, and nowhere else", async () => {
    const from = new PassThrough();
    const to = quickReader();
    const pump = new Pump({ from, to: to.stream });
    from.write("half of");
    await vi.waitFor(() => expect(to.text()).toBe("half of"));
    expect(pump.interject("ours")).toBe(false);
    from.write(" a line\n");
    await vi.waitFor(() => expect(to.text()).toBe("half of a line\n"));
    expect(pump.interject("ours")).toBe(true);
    from.end();
    await pump.done;
    expect(pump.interject("too late")).toBe(false);
    expect(to.text()).toBe("half of a line\nours\n");
  });

  test("adds nothing for a reader that is behind", async () => {
    const from = new PassThrough();
    const to = slowReader();
    const pump = new Pump({ from, to: to.stream });
    from.write("a whole line\n");
    await vi.waitFor(() => expect(pump.isCongested).toBe(true));
    expect(pump.interject("ours")).toBe(false);
  });
});
