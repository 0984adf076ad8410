import type { Clock } from "../../base/clock.ts";

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
 * When the client goes away, `end` is called once and the events are finished. When the events fail,
 * `end` is called with the fault and the stream ends: the client comes back and goes on from there.
 */
export function eventStream(
  clock: Clock,
  events: AsyncGenerator<ServerSentEvent, void>,
  end: (fault?: unknown) => void,
): Response {
  const encoder = new TextEncoder();
  let gone = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // Opens the stream at once, and tells the client when to come back after it broke.
      controller.enqueue(encoder.encode("retry: 2000\n\n"));
    },
    async pull(controller) {
      const stopBeating = heartbeat(clock, () => {
        // A client that does not read finds no heap of heartbeats when it does.
        if ((controller.desiredSize ?? 0) > 0)
          controller.enqueue(encoder.encode(": still here\n\n"));
      });
      try {
        const result = await events.next();
        if (gone) return;
        if (result.done) controller.close();
        else controller.enqueue(encoder.encode(formatted(result.value)));
      } catch (fault) {
        if (gone) return;
        end(fault);
        controller.close();
      } finally {
        stopBeating();
      }
    },
    async cancel() {
      gone = true;
      end();
      // Between two messages nothing would ask for the next one, and the events would never finish.
      await events.return();
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    },
  });
}

/** Calls `beat` at every interval until the returned function is called. */
function heartbeat(clock: Clock, beat: () => void): () => void {
  let cancel = clock.after(heartbeatMs, onTime);
  function onTime(): void {
    beat();
    cancel = clock.after(heartbeatMs, onTime);
  }
  return () => cancel();
}

function formatted({ id, event, data }: ServerSentEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
