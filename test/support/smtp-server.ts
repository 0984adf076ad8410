const replies: readonly (readonly [RegExp, string])[] = [
  [/^EHLO/, "250-test\r\n250 AUTH PLAIN\r\n"],
  [/^STARTTLS/, "502 no\r\n"],
  [/^AUTH/, "235 ok\r\n"],
  [/^DATA$/, "354 go on\r\n"],
  [/^(?:MAIL|RCPT|\.$)/, "250 ok\r\n"],
  [/^QUIT/, "221 bye\r\n"],
];

/** A mail server without TLS that accepts everything and records what it receives. */
export function smtpServer(lines: string[]) {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => void socket.write("220 test\r\n"),
      data(socket, bytes) {
        for (const line of bytes.toString().split("\r\n").filter(Boolean)) {
          lines.push(line);
          const reply = replies.find(([pattern]) => pattern.test(line))?.[1];
          if (reply !== undefined) socket.write(reply);
        }
      },
    },
  });
  return { port: server.port, [Symbol.dispose]: () => server.stop(true) };
}
