/** One made-up secret of each kind, put together at run time, so that no scanner takes the source for a leak. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const alphanumeric = "q7Zt2LmX9vKc4RbN8wPd3HsJ6yTg5FkV1nQz0aWxEuYiOpSdGhMj2KlB4CvBnM7qRt9Ew";
const hexadecimal = "3f9a1c7be2d8405f6a91b3c7d4e8f02157a6c9be34d1f80296c5a7e3b18d4f60";
const upper = "Q7ZT2LMX9VKC4RBN8WPD3HSJ6YTG5FKV";

function joined(...parts: readonly string[]): string {
  return parts.join("");
}

const jwtPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** By kind: the secret, and a text around it where it needs one. */
export const secretSamples: Readonly<Record<string, { readonly secret: string; readonly text?: string }>> = {
  "github-token": { secret: joined("gh", "p_", alphanumeric.slice(0, 36)) },
  "gitlab-token": { secret: joined("glp", "at-", alphanumeric.slice(0, 20)) },
  "anthropic-key": { secret: joined("sk-a", "nt-api03-", alphanumeric, alphanumeric.slice(0, 23), "AA") },
  "openai-key": { secret: joined("sk-p", "roj-", alphanumeric.slice(0, 48)) },
  "aws-key-id": { secret: joined("AK", "IA", upper.slice(0, 16)) },
  "google-key": { secret: joined("AI", "za", alphanumeric.slice(0, 35)) },
  "slack-token": { secret: joined("xo", "xb-", "239847548631-234897562300-", alphanumeric.slice(0, 24)) },
  "stripe-key": { secret: joined("sk_", "live_", alphanumeric.slice(0, 24)) },
  "huggingface-token": { secret: joined("h", "f_", alphanumeric.replaceAll(/\d/g, "").slice(0, 34)) },
  "npm-token": { secret: joined("np", "m_", alphanumeric.slice(0, 36)) },
  "digitalocean-token": { secret: joined("dop", "_v1_", hexadecimal) },
  "vault-token": { secret: joined("hv", "s.", alphanumeric.slice(0, 60)) },
  "private-key": {
    secret: joined(
      "-----BEGIN ",
      "PRIVATE KEY-----\n",
      alphanumeric.slice(0, 64),
      "\n",
      alphanumeric.slice(3, 50),
      "\n-----END ",
      "PRIVATE KEY-----",
    ),
  },
  "json-web-token": {
    secret: joined(
      jwtPart({ alg: "HS256", typ: "JWT" }),
      ".",
      jwtPart({ sub: "1234", name: "x" }),
      ".",
      alphanumeric.slice(0, 43),
    ),
  },
  "url-password": { secret: "s3cr3tP4ssw0rd9", text: "postgres://app:s3cr3tP4ssw0rd9@db.internal:5432/app" },
  "header-credential": {
    secret: alphanumeric.slice(5, 37),
    text: `curl -H "Authorization: Bearer ${alphanumeric.slice(5, 37)}" https://api.internal/v1`,
  },
  "curl-password": { secret: "yqDVtkqPECri4aLRi", text: "curl -k -u developer:yqDVtkqPECri4aLRi https://host/x" },
  "named-secret": { secret: "k9Xv2mQp7Lr4Tz8W", text: "DB_PASSWORD=k9Xv2mQp7Lr4Tz8W\n" },
};

/** The text a sample stands in. */
export function textOf({ secret, text }: { readonly secret: string; readonly text?: string }): string {
  return text ?? `value ${secret} end`;
}

/** The names and texts of all files below a folder, compressed ones too. */
export async function textsOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const bytes = await Promise.all(files.map((file) => readFile(file)));
  const texts = bytes.map((one) => (one[0] === 0x1f && one[1] === 0x8b ? gunzipSync(one) : one).toString("utf8"));
  return [files.join("\n"), ...texts];
}
