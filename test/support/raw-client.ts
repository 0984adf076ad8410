import { connect, type Socket } from "node:net";

import { until } from "./app.ts";

/** A client on a raw socket, which can send requests that no HTTP library would. */
export class RawClient implements Disposable {
  /** Everything received that `get` has not returned yet. */
  received = "";
  /** Whether the server has closed the connection. */
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

  /** `from` is the local address, by default chosen by the system. */
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

  /** Respects backpressure: resolves when everything was written to the socket. */
  async send(text: string): Promise<void> {
    if (!this.#socket.writable || this.#socket.write(text, "latin1")) return;
    await until(() => this.ended || this.#socket.writableLength === 0, 30_000);
  }

  /** Closes the connection for writing only. */
  halfClose(): void {
    this.#socket.end();
  }

  /** Returns the head of the next response, and the part of the body that arrived with it. */
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
