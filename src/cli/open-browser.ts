/** Opens a link in the browser of whoever is at the screen. */
import { spawn } from "node:child_process";

/** The program that opens a link on each system, with its arguments before the link. No shell reads the link. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...given: string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Opens a link, if there is a screen and a browser; where there is none, nothing happens.
 *
 * @param env - tells whether there is a screen
 */
export function openBrowser(link: string, env: Readonly<Record<string, string | undefined>>): void {
  const hasScreen = env["DISPLAY"] !== undefined || env["WAYLAND_DISPLAY"] !== undefined;
  const opener = openers[process.platform] ?? (hasScreen ? (["xdg-open"] as const) : undefined);
  if (!opener || env["CI"] !== undefined) return;
  const [program, ...given] = opener;
  const child = spawn(program, [...given, link], { detached: true, stdio: "ignore" });
  child.on("error", () => undefined);
  child.unref();
}
