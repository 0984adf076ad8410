/** One request that a test's operator gateway, or another local program, received. */
export interface Received {
  readonly method: string;
  readonly path: string;
  /** The query with its question mark; empty without one. */
  readonly search: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly bytes: Uint8Array;
}

export const gatewaySecret = `whsec_${Buffer.from("a gateway key of thirty-two byte").toString("base64")}`;

/** The settings that make a server notify the operator gateway at an address. */
export const gatewayEnv = (url: string) => ({
  OPERATOR_GATEWAY_URL: url,
  OPERATOR_GATEWAY_SECRET: gatewaySecret,
});

/** An operator gateway on a free port. `answer` is called for each request, with its number from 1. */
export function testGateway(
  answer: (number: number, received: Received) => Response | Promise<Response> = () =>
    new Response(),
  port = 0,
) {
  const received: Received[] = [];
  let inFlight = 0;
  let most = 0;
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      inFlight += 1;
      most = Math.max(most, inFlight);
      try {
        const { method } = request;
        const headers = Object.fromEntries(request.headers);
        const { pathname: path, search } = new URL(request.url);
        const bytes = await request.bytes();
        const body = new TextDecoder().decode(bytes);
        const entry = { method, path, search, headers, body, bytes };
        received.push(entry);
        const gone = Promise.withResolvers<Response>();
        request.signal.addEventListener("abort", () => gone.resolve(new Response()));
        return await Promise.race([answer(received.length, entry), gone.promise]);
      } finally {
        inFlight -= 1;
      }
    },
  });
  const url = `${server.url.href}notify`;
  return {
    url,
    port: server.port ?? 0,
    /** The settings that make a server notify it. */
    env: gatewayEnv(url),
    /** In order of arrival. */
    received,
    /** The maximum number of concurrent requests. */
    mostInFlight: () => most,
    stop: () => server.stop(true),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

export type TestGateway = ReturnType<typeof testGateway>;

/** Never answers: the client has to time out, or the gateway to stop. */
export const never = (): Promise<Response> => new Promise(() => {});
