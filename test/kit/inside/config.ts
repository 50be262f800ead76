/** Names of src/config that tests use and no door exports. */
export { readConfig } from "../../../src/config/file.ts";
export { locales } from "../../../src/config/locale.ts";
export { configSchema } from "../../../src/config/schema.ts";
export { fetchUserConfig } from "../../../src/config/user-config.ts";
