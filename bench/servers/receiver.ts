import { histogram } from "../measure.ts";

// The address of destinations. It answers 200 at once, but never on /hanging. GET /latencies returns how long
// notifications took since the former GET /latencies, from the creation of the notification, just before the commit of
// its event, to their arrival.

export interface Latencies {
  readonly received: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

let latencies = histogram();

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env["PORT"]),
  idleTimeout: 0,
  async fetch(request) {
    if (request.method === "GET") {
      const [p50Ms, p99Ms] = [latencies.quantile(0.5), latencies.quantile(0.99)];
      const found: Latencies = { received: latencies.count(), p50Ms, p99Ms };
      if (request.url.endsWith("?reset")) latencies = histogram();
      return Response.json(found);
    }
    if (request.url.endsWith("/hanging")) return new Promise<Response>(() => {});
    const { data }: { data: { createdAt: string } } = JSON.parse(await request.text());
    latencies.record(Date.now() - Date.parse(data.createdAt));
    return new Response();
  },
});
