import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";

/** One message of a `text/event-stream` (HTML Living Standard, section 9.2). */
export interface ServerSentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** The interval of comments on an idle stream, so that proxies and clients do not close it. */
const heartbeatMs = 15_000;

/**
 * A response that streams server-sent events. It pulls events only as fast as the client reads, and ends
 * when `events` ends. If the client disconnects, calls `end` once and finishes `events`. If `events` throws,
 * calls `end` with the error and ends the stream, so that the client reconnects and resumes, after `position` if it has
 * received no event. When `signal` aborts, the server disconnects, whether or not the client has read everything.
 */
export function eventStream(
  clock: Clock,
  events: AsyncGenerator<ServerSentEvent, void>,
  end: (error?: unknown) => void,
  { signal, position }: { readonly signal?: AbortSignal; readonly position?: number } = {},
): Response {
  const encoder = new TextEncoder();
  let disconnected = false;
  async function disconnect(): Promise<void> {
    disconnected = true;
    end();
    // Nothing pulls the next event after this, so `events` would never finish by itself.
    await events.return();
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Sends the headers at once, and sets the delay before the client reconnects and where it then continues.
        const id = position === undefined ? "" : `id: ${position}\n`;
        controller.enqueue(encoder.encode(`retry: 2000\n${id}\n`));
        signal?.addEventListener("abort", () => {
          if (disconnected) return;
          controller.error(signal.reason);
          void disconnect();
        });
      },
      async pull(controller) {
        const stopBeating = heartbeat(clock, () => {
          // Skips heartbeats while the client does not read, so that they do not pile up.
          if ((controller.desiredSize ?? -1) >= 0)
            controller.enqueue(encoder.encode(": still here\n\n"));
        });
        try {
          const result = await events.next();
          if (disconnected) return;
          if (result.done) controller.close();
          else controller.enqueue(encoder.encode(formatted(result.value)));
        } catch (error) {
          if (disconnected) return;
          end(error);
          controller.close();
        } finally {
          stopBeating();
        }
      },
      cancel: disconnect,
    },
    // Without a queue, the next event is pulled only after Bun has sent the previous one to the client.
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    },
  });
}

/** The position after which a client resumes, or null to start with new messages. */
export function lastEventId(request: Request): number | null {
  const header = request.headers.get("last-event-id");
  if (header === null || header === "") return null;
  if (/^\d{1,16}$/.test(header) && Number.isSafeInteger(Number(header))) return Number(header);
  throw new AppError("invalid-parameter", "Last-Event-ID was not sent by this feed", {
    errors: [
      {
        parameter: "Last-Event-ID",
        code: "invalid-parameter",
        detail: "Omit it to start with new messages.",
      },
    ],
  });
}

/** `Last-Event-ID`, as OpenAPI describes it. */
export const lastEventIdHeader = {
  name: "Last-Event-ID",
  in: "header",
  description: "Resumes after this message. Without it, the stream starts with new messages.",
  schema: { type: "string", pattern: "^\\d{1,16}$" },
} as const;

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
