/** Bearer tokens of servers: made of random bytes, and compared without telling how much of one was right. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A new token: 32 random bytes, written so that they fit into an address. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Whether an `Authorization` header holds a token. The time that it takes says nothing about the token. */
export function isBearer(header: string | null | undefined, token: string): boolean {
  const [given, wanted] = [header ?? "", `Bearer ${token}`].map((text) => createHash("sha256").update(text).digest());
  return given !== undefined && wanted !== undefined && timingSafeEqual(given, wanted);
}

/** Whether only programs of this machine can reach a server that listens on an address. */
export function isLoopbackAddress(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}
