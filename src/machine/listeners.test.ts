import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { listenerOf } from "./listeners.ts";
import { commandLineOf, environmentOf } from "./processes.ts";

test.runIf(process.platform === "linux")(
  "the process that listens at a port is found",
  async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect(listenerOf(port)).toBe(process.pid);
    await new Promise((resolve) => server.close(resolve));
    expect(listenerOf(port)).toBeUndefined();
  },
);

test.runIf(process.platform === "linux")("a process says what it was started with", () => {
  expect(commandLineOf(process.pid)).toContain("node");
  expect(environmentOf(process.pid)["PATH"]).toBe(process.env["PATH"]);
  expect([commandLineOf(0), environmentOf(0)]).toEqual(["", {}]);
});
