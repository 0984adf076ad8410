// The upper bound: a Bun server that only reads the body of a webhook.

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env["PORT"]),
  async fetch(request) {
    await request.bytes();
    return new Response("ok");
  },
});

process.on("SIGTERM", () => process.exit(0));
