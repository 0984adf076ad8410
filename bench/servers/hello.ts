// The least that a compiled Bun server can be.

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env["PORT"]),
  fetch: () => new Response("ok"),
});
