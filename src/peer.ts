/** Packages that the user installs beside Windrow, and the error that names the missing one. */
import { WindrowError } from "./errors.ts";

/**
 * Loads what needs an optional package.
 *
 * @param user - what needs it, for the error: `windrow mcp`
 * @throws WindrowError `package-missing` where the package is not installed
 */
export async function withPackage<T>(name: string, user: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    if (!missing || !error.message.includes(name)) throw error;
    const message = `${user} needs the package ${name}, which is not installed. Run: npm install ${name}`;
    throw new WindrowError("package-missing", message, { package: name }, { cause: error });
  }
}
