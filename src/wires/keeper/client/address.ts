/** Where the daemon's gRPC door is: HOST:PORT, :PORT for this machine, or nothing for the usual. */
import { invalidArgument } from "../../../core/errors.ts";

export const DEFAULT_ADDRESS = "127.0.0.1:7070";

const SHAPE = /^(?<host>\[[\da-f:.]+\]|[^\s:/@[\]]*):(?<port>\d{1,5})$/i;

/** An address to listen on everywhere is one to call when it is turned into the local one. */
const LOCAL: Readonly<Record<string, string>> = {
  "": "127.0.0.1",
  "0.0.0.0": "127.0.0.1",
  "[::]": "[::1]",
};

export function keeperAddress(text: string | undefined): string {
  const { host = "%", port = "" } = SHAPE.exec(text || DEFAULT_ADDRESS)?.groups ?? {};
  const address = `${LOCAL[host] ?? host}:${port}`;
  if (!URL.canParse(`http://${address}`) || Number(port) === 0) {
    throw invalidArgument(`the address is "${text ?? ""}": give it as HOST:PORT`);
  }
  return address;
}
