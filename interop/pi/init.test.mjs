/** `windrow init` in a project with pi, under either of its scopes. */
import { testInit } from "../kit/init.mjs";
import { folder, next, version } from "./host.mjs";

const scope = next ? "@earendil-works" : "@mariozechner";
const packages = Object.fromEntries(
  ["pi-agent-core", "pi-ai"].map((name) => [`${scope}/${name}`, new URL(`node_modules/${scope}/${name}`, folder)]),
);
testInit({ host: "pi", label: "pi", version, packages });
