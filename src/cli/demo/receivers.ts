import type { Context } from "../../base/context.ts";
import type { Services } from "../../services.ts";

/** Creates destinations of several kinds. Their receivers are in this process: all answer 200 but one. */
export async function connectReceivers(
  { destinations }: Pick<Services, "destinations">,
  admin: Context,
): Promise<void> {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => new Response(null, { status: url.endsWith("/warehouse") ? 503 : 200 }),
  });
  server.unref();
  for (const { name, ...input } of receivers) {
    await destinations.create(admin, { name, url: `${server.url.origin}/${name}`, ...input });
  }
}

const receivers = [
  {
    name: "on-call",
    format: "slack",
    filter: 'event.severity == "error" || event.severity == "warning"',
    alerts: true,
  },
  { name: "finance", format: "json", filter: 'event.type.startsWith("payment")' },
  { name: "staging", format: "cloudevents", filter: 'event.provider != "bookings"' },
  { name: "warehouse", format: "json", filter: 'event.type == "deploy.error"' },
] as const;
