// The ceiling: the least that a Bun server can do with a webhook, which is to read its body.

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env["PORT"]),
  async fetch(request) {
    await request.bytes();
    return new Response("ok");
  },
});

process.on("SIGTERM", () => process.exit(0));
