/** One gRPC call, for setting up what is measured; throws when the answer is no OK. */
import { connect } from "node:http2";
import { framed, FrameReader } from "../../src/net/grpc/frames.ts";

/** Yields the one answer, unframed. */
export async function call(origin: string, path: string, body: Uint8Array): Promise<Uint8Array> {
  // Of this bench, and of a certificate that it made itself.
  const session = connect(origin, { rejectUnauthorized: false });
  try {
    return await new Promise<Uint8Array>((resolve, reject) => {
      const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc" };
      const stream = session.request(headers);
      const reader = new FrameReader(1_000_000);
      let answer: Uint8Array = new Uint8Array();
      const check = (seen: Readonly<Record<string, unknown>>) => {
        const status = seen["grpc-status"] ?? "0";
        if (status !== "0") reject(new Error(`${path}: ${String(seen["grpc-message"])}`));
      };
      stream.on("response", check).on("trailers", check);
      stream.on("data", (chunk: Buffer) => {
        for (const message of reader.push(chunk)) answer = message;
      });
      stream.on("end", () => resolve(answer));
      stream.on("error", reject);
      stream.end(framed(body));
    });
  } finally {
    session.destroy();
  }
}
