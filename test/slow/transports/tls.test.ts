import { afterAll, expect, test } from "bun:test";

import { authority, certificateFor, noCertificates } from "../../support/certificates.ts";
import { authorization, startIn } from "../../support/load.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { skips } from "../../support/skips.ts";

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

test.skipIf(skips(noCertificates))(
  "Redis with TLS must show a certificate for its name, of an authority that is trusted",
  async () => {
    const [trusted, other] = [await authority(folder, "trusted"), await authority(folder, "other")];
    const env = {
      DESTINATIONS_ALLOW_PRIVATE: "operators",
      NODE_EXTRA_CA_CERTS: trusted.certificate,
    };
    const server = await startIn(folder, env);
    const headers = {
      authorization: await authorization("admin"),
      "content-type": "application/json",
    };
    const ask = async (path: string, body: object) => {
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return Object(await (await fetch(`${server.url}/v1/${path}`, init)).json());
    };
    const cases = [
      ["named", await certificateFor(folder, "localhost", trusted), null],
      ["elsewhere", await certificateFor(folder, "redis.example.com", trusted), /altnames/],
      ["untrusted", await certificateFor(folder, "localhost", other), /certificate/],
    ] as const;
    for (const [name, { certificate, key }, error] of cases) {
      using redis = Bun.listen({
        hostname: "127.0.0.1",
        port: 0,
        tls: { cert: Bun.file(certificate), key: Bun.file(key) },
        socket: { data: (socket) => void socket.write("$3\r\n0-1\r\n") },
      });
      const url = `rediss://localhost:${redis.port}?stream=a`;
      const { id } = await ask("destinations", { name, format: "json", transport: "redis", url });
      const tested = await ask(`destinations/${id}/test`, {});
      expect([name, tested.delivered]).toEqual([name, error === null]);
      if (error !== null) expect(tested.error).toMatch(error);
    }
    expect(await server.stop()).toBe(0);
  },
  60_000,
);
