/** One message of a `text/event-stream` (HTML Living Standard, section 9.2). */
export interface ServerSentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** Comments are sent this often when nothing else is, so that proxies and clients see a live stream. */
const heartbeatMs = 15_000;

/**
 * A stream of server-sent events. It reads on only as the client does, and ends when the events end.
 * `end` is called once when the client goes away.
 */
export function eventStream(
  events: AsyncGenerator<ServerSentEvent, void>,
  end: () => void,
): Response {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<ServerSentEvent, void>> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // Opens the stream at once, and tells the client when to come back after it broke.
      controller.enqueue(encoder.encode("retry: 2000\n\n"));
    },
    async pull(controller) {
      next ??= events.next();
      const result = await Promise.race([next, Bun.sleep(heartbeatMs)]);
      if (result === undefined) {
        controller.enqueue(encoder.encode(": still here\n\n"));
        return;
      }
      next = undefined;
      if (result.done) controller.close();
      else controller.enqueue(encoder.encode(formatted(result.value)));
    },
    cancel: end,
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    },
  });
}

function formatted({ id, event, data }: ServerSentEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
