/** The requests to an outpost, as a stream that the outpost opened. */
import type { OutpostRequests, RequestStream } from "../../outposts/requests.ts";
import type { Frames, SseSource } from "./sse.ts";

export function requestsSource(requests: OutpostRequests): SseSource {
  const stream = requests.open();
  return { frames: framesOf(stream), close: () => stream.close() };
}

async function* framesOf({ requests }: RequestStream): Frames {
  for await (const request of requests) {
    yield Buffer.from(`event: request\ndata: ${JSON.stringify(request)}\n\n`);
  }
  return false;
}
