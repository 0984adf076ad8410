import { join } from "node:path";

import { notInstalled } from "./skips.ts";

const openssl = Bun.which("openssl");

/** Why tests with certificates are skipped; null when they run. */
export const noCertificates = notInstalled("openssl");

/** The files of a certificate and its key. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** Creates a certificate authority of that name in `folder`. */
export async function authority(folder: string, name: string): Promise<Certificate> {
  const { certificate, key } = filesOf(folder, name);
  await run("req", "-x509", ...fresh, "-keyout", key, "-out", certificate, "-subj", `/CN=${name}`);
  return { certificate, key };
}

/** Creates a certificate for `host`, signed by an authority. */
export async function certificateFor(
  folder: string,
  host: string,
  { certificate: ca, key: caKey }: Certificate,
): Promise<Certificate> {
  const { certificate, key } = filesOf(folder, `${host}-${crypto.randomUUID()}`);
  const signed = ["-CA", ca, "-CAkey", caKey, "-addext", `subjectAltName=DNS:${host}`];
  const files = ["-keyout", key, "-out", certificate];
  await run("req", "-x509", ...fresh, ...files, ...signed, "-subj", `/CN=${host}`);
  return { certificate, key };
}

const fresh = ["-newkey", "rsa:2048", "-nodes", "-days", "2"];

function filesOf(folder: string, name: string): Certificate {
  return { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
}

async function run(...args: string[]): Promise<void> {
  const child = Bun.spawn([openssl ?? "openssl", ...args], { stdout: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(await child.stderr.text());
}
