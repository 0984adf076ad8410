// The address of destinations. It answers 200 at once. GET returns how many notifications have arrived.

let received = 0;

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env["PORT"]),
  idleTimeout: 0,
  async fetch(request) {
    if (request.method === "GET") return new Response(String(received));
    await request.bytes();
    received += 1;
    return new Response();
  },
});
