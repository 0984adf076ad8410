// A separate program, so that its sockets do not count as those of the test or the server:
//   bun idle-clients.ts URL COUNT
// Opens COUNT connections, sends one request on each, prints how many are open, and keeps them open until
// its standard input ends.

const [, , address = "", total = ""] = process.argv;
const { hostname, port } = new URL(address);
const atOnce = 250;
let open = 0;

async function connect(): Promise<void> {
  const ready = Promise.withResolvers<void>();
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open(socket) {
        open += 1;
        socket.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
      },
      data: () => ready.resolve(),
      close() {
        open -= 1;
        ready.resolve();
      },
      error: () => ready.resolve(),
      connectError: () => ready.resolve(),
    },
  }).catch(() => null);
  await ready.promise;
}

void Bun.stdin.text().then(() => process.exit(0));
for (let done = 0; done < Number(total); done += atOnce) {
  const count = Math.min(atOnce, Number(total) - done);
  await Promise.all(Array.from({ length: count }, connect));
}
console.log(open);
