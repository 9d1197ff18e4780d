/** One gRPC call over plain HTTP/2, of bytes: an ear that is not ours to fool. */
import { connect } from "node:http2";

export interface Answered {
  /** gRPC's code; 0 is well. */
  readonly status: number;
  /** The first message, without its prefix; empty when there is none. */
  readonly message: Buffer;
}

const PREFIX_BYTES = 5;

/** Sends one message to `/package.Service/Method` and waits for the end. */
export async function call(port: number, path: string, message: Uint8Array): Promise<Answered> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    return await new Promise((resolve, reject) => {
      session.on("error", reject);
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
      });
      const chunks: Buffer[] = [];
      let status = -1;
      const take = (headers: Record<string, unknown>) => {
        if (headers["grpc-status"] !== undefined) status = Number(headers["grpc-status"]);
      };
      stream.on("response", take).on("trailers", take).on("error", reject);
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const bytes = Buffer.concat(chunks);
        const length = bytes.length > PREFIX_BYTES ? bytes.readUInt32BE(1) : 0;
        resolve({ status, message: bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + length) });
      });
      const prefix = Buffer.alloc(PREFIX_BYTES);
      prefix.writeUInt32BE(message.length, 1);
      stream.end(Buffer.concat([prefix, message]));
    });
  } finally {
    session.destroy();
  }
}
