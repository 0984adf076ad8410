import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

/** A new RSA key and its certificate. Only the certificate is recorded. */
export function certificatePair(subject) {
  const folder = mkdtempSync(`${tmpdir()}/certificate-`);
  const [key, certificate] = [`${folder}/key.pem`, `${folder}/certificate.pem`];
  const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "36500"];
  const named = ["-subj", subject, "-keyout", key, "-out", certificate];
  execFileSync("openssl", [...request, ...named], { stdio: "ignore" });
  const pair = { key: readFileSync(key, "utf8"), certificate: readFileSync(certificate, "utf8") };
  rmSync(folder, { recursive: true });
  return pair;
}
