/** Below the ports that systems give to outgoing connections, of which one could take it meanwhile. */
const [first, last] = [10_000, 32_000];

/** A port that is free now, for programs that cannot say which one they took. */
export function freePort(): number {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first));
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // Another program has it.
    }
  }
}
