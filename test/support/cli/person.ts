/** A person at a terminal, for commands that ask. */
import { Output } from "../../../src/cli/terminal/output.ts";

/** What they are shown, and what they type once they are listened to. */
export function person() {
  const shown: string[] = [];
  const sink = {
    write(text: string, done?: () => void) {
      shown.push(text);
      done?.();
      return true;
    },
  };
  const interruption = new AbortController();
  let listen: (pressed: (keys: string) => void) => void = () => undefined;
  const listened = new Promise<(keys: string) => void>((resolve) => (listen = resolve));
  const state = { isListened: false };
  const context = {
    out: new Output({ ...sink, isTTY: true }, {}),
    err: new Output(sink, {}),
    untilInterrupted: () => interruption.signal,
    listenForKeys: (pressed: (keys: string) => void) => {
      listen(pressed);
      state.isListened = true;
      return () => void (state.isListened = false);
    },
  };
  const type = async (...chunks: readonly string[]) => {
    const press = await listened;
    for (const keys of chunks) press(keys);
  };
  return { context, shown, state, type, interruption };
}
