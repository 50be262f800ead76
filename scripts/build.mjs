/** Builds dist from clean: tsc, then the commands are made executable. Nothing else is copied. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { filesUnder, manifest, root } from "./package-files.mjs";

rmSync(join(root, "dist"), { recursive: true, force: true });
const compiler = join(root, "node_modules/@typescript/native/bin/tsc");
const { status } = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);

for (const command of Object.values(manifest.bin).filter((file) => existsSync(join(root, file)))) {
  chmodSync(join(root, command), 0o755);
}
console.log(`${filesUnder(["dist"], /\.js$/).length} modules in dist`);
