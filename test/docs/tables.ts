import { settings } from "../../src/config/settings.ts";
import { secretPlaces } from "../../src/config/secrets.ts";
import type { Provider } from "../../src/gateway/providers/provider.ts";
import { catalogue, defaultProviders } from "../../src/gateway/providers/catalogue.ts";

/** The table of settings in docs/operations.md. */
export function settingsTable(): string {
  const rows = Object.values(settings).map(
    ({ key, default: value, doc }) =>
      `| \`${key}\` | ${value === null || value === "" ? "" : `\`${value}\``} | ${doc} |`,
  );
  return ["| variable | default | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

/** The lines of a systemd unit that load secrets. */
export const credentialLines = /(?:^LoadCredential=.*\n)+/m;

/** A line for each secret that the program reads in SECRETS_DIR. */
export function credentials(): string {
  const places = catalogue.flatMap(({ id }) => Object.values(secretPlaces(id, "")));
  const files = [
    ...places.map(({ file }) => file),
    "personal_data_key",
    "personal_data_key_previous",
  ];
  return files.map((file) => `LoadCredential=${file}`).join("\n");
}

/** What is received: the first table of docs/webhooks.md. */
export function providerTable(): string {
  const rows = catalogue.map((provider) => {
    const { id, signature } = provider;
    const off = defaultProviders.includes(id) ? "" : " (off unless named in `WEBHOOK_PROVIDERS`)";
    const headers = signature.headers.map((name) => `\`${name}\``).join(", ");
    return `| \`${id}\`${off} | ${signing(provider)} | ${headers} |`;
  });
  const head = ["| provider | signature | headers |", "| --- | --- | --- |"];
  return [...head, ...rows].join("\n");
}

function signing({ signature }: Provider): string {
  const { algorithm, encoding, prefix, signed } = signature;
  const form = [`HMAC-${algorithm.toUpperCase()}`, encoding];
  if (prefix !== undefined) form.push(`\`${prefix}\` before it`);
  if (signed === "raw-or-compact-json") form.push("over the raw or the compact JSON");
  if (signed === "timestamp-dot-raw") {
    form.push(`\`t=…,v1=…\`, ${signature.toleranceSeconds / 60} minutes`);
  }
  return form.join(", ");
}
