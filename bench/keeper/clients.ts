/** Our gRPC client and that of grpc-js, as one caller with many calls in flight has them. */
import { Client as GrpcJs, credentials, Metadata } from "@grpc/grpc-js";
import { systemClock } from "../../src/machine/clock.ts";
import { GrpcChannel } from "../../src/net/grpc/client-channel.ts";
import { rate, type Measured } from "../measure.ts";

export interface Call {
  readonly path: string;
  readonly body: Uint8Array;
}

export interface Client extends Disposable {
  call(what: Call): Promise<unknown>;
}

const TIMEOUT_MS = 10_000;

export function ourClient(address: string): Client {
  const channel = new GrpcChannel({ address, timers: systemClock });
  return {
    call: (what) => channel.call({ ...what, timeoutMs: TIMEOUT_MS, isRepeatable: true }),
    [Symbol.dispose]: () => channel.close(),
  };
}

export function grpcJsClient(address: string): Client {
  const client = new GrpcJs(address, credentials.createInsecure());
  const asIs = (bytes: Uint8Array) => Buffer.from(bytes);
  const call = ({ path, body }: Call) =>
    new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + TIMEOUT_MS };
      const done = (error: Error | null, answer?: Buffer) =>
        error ? reject(error) : resolve(answer);
      client.makeUnaryRequest(path, asIs, asIs, body, new Metadata(), options, done);
    });
  return { call, [Symbol.dispose]: () => client.close() };
}

/** So many calls, at most `inFlight` of them at once. */
export async function drive(client: Client, what: Call, inFlight: number): Promise<Measured> {
  let left = inFlight * 200;
  const caller = async () => {
    for (; left > 0; left -= 1) await client.call(what);
  };
  const perSecond = await rate(left, async () => {
    await Promise.all(Array.from({ length: inFlight }, caller));
  });
  return { perSecond, p99Ms: NaN };
}
