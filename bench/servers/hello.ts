// A minimal compiled Bun server.

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env["PORT"]),
  fetch: () => new Response("ok"),
});
