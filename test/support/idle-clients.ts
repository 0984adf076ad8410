// A program of its own, so that its sockets do not count as the test's or the server's:
//   bun idle-clients.ts URL COUNT
// Opens COUNT connections, every second one with a request that it lets be answered, prints how many
// are open, and holds them until its standard input ends.

const [, , address = "", total = ""] = process.argv;
const { hostname, port } = new URL(address);
const atOnce = 250;
let open = 0;

async function connect(number: number): Promise<void> {
  const ready = Promise.withResolvers<void>();
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open(socket) {
        open += 1;
        if (number % 2 === 0) ready.resolve();
        else socket.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
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
  await Promise.all(Array.from({ length: count }, (_, index) => connect(done + index)));
}
console.log(open);
