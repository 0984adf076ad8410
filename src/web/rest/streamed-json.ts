/**
 * A response with this JSON. Calls `onEnd` when Bun has sent it to the client or the client disconnects. When `signal`
 * aborts before, the server disconnects.
 */
export function streamedJson(value: unknown, onEnd: () => void, signal: AbortSignal): Response {
  let bytes: Uint8Array | null = new TextEncoder().encode(JSON.stringify(value));
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal.addEventListener("abort", () => {
          controller.error(signal.reason);
          onEnd();
        });
      },
      pull(controller) {
        // Bun pulls again when it has sent the first chunk.
        if (bytes === null) {
          controller.close();
          onEnd();
          return;
        }
        controller.enqueue(bytes);
        bytes = null;
      },
      cancel: onEnd,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "application/json" } });
}
