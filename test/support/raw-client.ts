import { connect, type Socket } from "node:net";

import { until } from "./app.ts";

/** A client by a bare socket: it sends what no HTTP library would. */
export class RawClient implements Disposable {
  /** All that came and was not yet taken by `get`. */
  received = "";
  /** Whether the server has closed its side. */
  ended = false;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (data) => {
      this.received += data.toString("latin1");
    });
    for (const end of ["end", "close", "error"]) {
      socket.on(end, () => {
        this.ended = true;
      });
    }
  }

  /** `from` is the address to send from, by default the machine's choice. */
  static async connect(url: string, from?: string): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    const socket = connect({
      host: hostname,
      port: Number(port),
      allowHalfOpen: true,
      ...(from !== undefined && { localAddress: from }),
    });
    const client = new RawClient(socket);
    await until(() => socket.readyState === "open");
    return client;
  }

  write(text: string): void {
    if (this.#socket.writable) this.#socket.write(text, "latin1");
  }

  /** Writes no more than the server takes: resolves when all has left this program. */
  async send(text: string): Promise<void> {
    if (!this.#socket.writable || this.#socket.write(text, "latin1")) return;
    await until(() => this.ended || this.#socket.writableLength === 0, 30_000);
  }

  /** Says that no more will be sent, and goes on to listen. */
  halfClose(): void {
    this.#socket.end();
  }

  /** The next answer's head, and what of its body came with it. */
  async answer(timeoutMs = 10_000): Promise<string> {
    await until(() => this.received.includes("\r\n\r\n"), timeoutMs);
    const answer = this.received;
    this.received = "";
    return answer;
  }

  get(path: string): Promise<string> {
    this.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return this.answer();
  }

  /** Resets the connection. */
  [Symbol.dispose](): void {
    this.#socket.resetAndDestroy();
  }
}
