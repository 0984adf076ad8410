interface Connection {
  text: string;
  drip: Timer | null;
}

const dripMs = 200;

/**
 * A server that sends the head of its response byte by byte and never ends it. `receive` is called for each request, and
 * returns whether it is answered at once, with 200.
 */
export function drippingServer(
  receive: (path: string, body: string, headers: Readonly<Record<string, string>>) => boolean,
) {
  const server = Bun.listen<Connection>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { text: "", drip: null };
      },
      data(socket, bytes) {
        const { data } = socket;
        data.text += bytes.toString("latin1");
        const request = requestIn(data.text);
        if (request === null) return;
        data.text = "";
        if (receive(request.path, request.body, request.headers)) {
          socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
          return;
        }
        socket.write("HTTP/1.1 200 OK\r\nX-Drip: ");
        data.drip = setInterval(() => socket.write("a"), dripMs);
      },
      close({ data: { drip } }) {
        if (drip !== null) clearInterval(drip);
      },
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

/** A complete request; null for a part of one. */
function requestIn(text: string) {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  if (body.length < Number(headers["content-length"] ?? 0)) return null;
  return { path: first.split(" ")[1] ?? "", headers, body: Buffer.from(body, "latin1").toString() };
}
