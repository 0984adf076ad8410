import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const textOf = (path: string): string => readFileSync(join(root, "deploy", path), "utf8");

describe("deploy/make-settings.sh", () => {
  test("writes no empty secret if openssl is missing or fails", () => {
    const folder = mkdtempSync(join(tmpdir(), "skyhook-settings-"));
    const programs = join(folder, "bin");
    mkdirSync(programs);
    for (const name of ["dirname", "cat"]) {
      symlinkSync(Bun.which(name) ?? "", join(programs, name));
    }
    // The shell has an absolute path, because PATH does not contain it.
    const run = () =>
      Bun.spawnSync([Bun.which("sh") ?? "", "deploy/make-settings.sh", folder], {
        cwd: root,
        env: { PATH: programs },
      });
    try {
      const without = run();
      expect(without.stderr.toString()).toContain("openssl is not installed");
      expect(without.exitCode).toBe(1);
      symlinkSync(Bun.which("false") ?? "", join(programs, "openssl"));
      expect(run().exitCode).not.toBe(0);
      expect(readdirSync(folder)).toEqual(["bin"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("deploy/skyhook-as-service.sh", () => {
  /** The arguments of `systemd-run` for a unit with this text. */
  function asked(unit: string, ...command: string[]): string[] {
    const folder = mkdtempSync(join(tmpdir(), "skyhook-as-service-"));
    try {
      // Replaces systemd: one program prints the unit, the other its arguments.
      const programs = { systemctl: 'cat "$UNIT"', "systemd-run": `printf '%s\\n' "$@"` };
      for (const [name, line] of Object.entries(programs)) {
        writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`);
        chmodSync(join(folder, name), 0o755);
      }
      const file = join(folder, "unit");
      writeFileSync(file, unit);
      const { stdout, stderr } = Bun.spawnSync(["sh", "deploy/skyhook-as-service.sh", ...command], {
        cwd: root,
        env: { PATH: `${folder}:${process.env["PATH"]}`, UNIT: file },
      });
      expect(stderr.toString()).toBe("");
      return stdout.toString().trimEnd().split("\n");
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  const unit = textOf("skyhook.service");
  const secrets = unit.match(/^LoadCredential=\w+$/gm) ?? [];

  test("runs a command with the user, folder, settings and secrets of the service", () => {
    expect(secrets).not.toBeEmpty();
    const all = asked(unit, "backup", "/var/lib/skyhook/a file.db");
    expect(all.slice(-3)).toEqual([
      "/usr/local/bin/skyhook",
      "backup",
      "/var/lib/skyhook/a file.db",
    ]);
    const properties = all.filter((word) => word.startsWith("--property="));
    const own = /^--unit=(skyhook-command-\d+\.service)$/m.exec(all.join("\n"))?.[1];
    expect(properties).toEqual(
      expect.arrayContaining([
        "--property=User=skyhook",
        "--property=DynamicUser=yes",
        "--property=StateDirectory=skyhook",
        "--property=UMask=0077",
        "--property=Environment=DATA_DIR=/var/lib/skyhook",
        `--property=Environment=SECRETS_DIR=/run/credentials/${own}`,
        "--property=EnvironmentFile=-/etc/skyhook/skyhook.env",
        ...secrets.map((line) => `--property=${line}`),
      ]),
    );
    // All specifiers are replaced, because systemd does not expand them in these properties.
    expect(properties.filter((word) => word.includes("%"))).toEqual([]);
  });

  test("applies drop-ins of the unit", () => {
    const all = asked(`${unit}\n${textOf("skyhook-secrets-folder.conf")}`, "doctor");
    const after = all.slice(all.indexOf("--property=LoadCredential="));
    expect(after).toContain("--property=Environment=SECRETS_DIR=/etc/skyhook-secrets");
    expect(after).toContain("--property=SupplementaryGroups=skyhook-secrets");
    expect(after.filter((word) => word.startsWith("--property=LoadCredential="))).toHaveLength(1);
  });
});
