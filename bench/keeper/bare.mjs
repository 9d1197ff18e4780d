/** What gRPC costs by itself: a grpc-js server whose one handler does nothing. */
import { Server, ServerCredentials } from "@grpc/grpc-js";

/** @type {import("@grpc/grpc-js").handleUnaryCall<Buffer, Buffer>} */
const doNothing = (_call, answer) => answer(null, Buffer.alloc(0));
/** @param {Buffer} bytes */
const asIs = (bytes) => bytes;
const server = new Server({ "grpc.max_concurrent_streams": 10_000, "grpc.enable_channelz": 0 });
server.addService(
  {
    Nothing: {
      path: "/bare/Nothing",
      requestStream: false,
      responseStream: false,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    },
  },
  { Nothing: doNothing },
);
server.bindAsync(process.argv[2] ?? "", ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
