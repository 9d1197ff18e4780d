/**
 * Calls with one answer on one HTTP/2 connection, with nothing around them: what is measured is
 * the daemon, not a client library.
 */
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import {
  create,
  fromBinary,
  toBinary,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { FrameReader, framed } from "../../src/net/grpc/frames.ts";

const ANSWER_BYTES = 4 * 1024 * 1024;

export class Caller {
  readonly #session: ClientHttp2Session;

  constructor(port: number) {
    this.#session = connect(`http://127.0.0.1:${port}`);
    this.#session.setMaxListeners(0);
    // Each call under way is told as well, and tells.
    this.#session.on("error", () => undefined);
  }

  /** Rejects with what the daemon says when the status is another than 0. */
  call<Method extends DescMethodUnary>(
    method: Method,
    request: MessageInitShape<Method["input"]>,
  ): Promise<MessageShape<Method["output"]>> {
    const stream = this.#session.request({
      ":method": "POST",
      ":path": `/${method.parent.typeName}/${method.name}`,
      "content-type": "application/grpc",
      te: "trailers",
    });
    const bytes = toBinary<Method["input"]>(
      method.input,
      create<Method["input"]>(method.input, request),
    );
    stream.end(framed(bytes));
    return new Promise((resolve, reject) => {
      const reader = new FrameReader(ANSWER_BYTES);
      let answer: MessageShape<Method["output"]> | undefined;
      let problem = `${method.name} was not answered`;
      const heed = (headers: IncomingHttpHeaders) => {
        const { "grpc-status": status, "grpc-message": message = "" } = headers;
        if (status === undefined) return;
        problem = status === "0" ? "" : `${method.name}: ${String([status, message])}`;
      };
      stream.on("response", heed);
      stream.on("trailers", heed);
      stream.on("data", (chunk: Buffer) => {
        for (const message of reader.push(chunk)) {
          answer = fromBinary<Method["output"]>(method.output, message);
        }
      });
      stream.on("error", reject);
      stream.on("close", () => {
        if (answer !== undefined && problem === "") resolve(answer);
        else reject(new Error(problem));
      });
    });
  }

  close(): void {
    this.#session.destroy();
  }
}
