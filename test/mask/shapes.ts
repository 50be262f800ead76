/** Places a secret stands in, each around any value: what a value is written as there, and the text around it. */

/** One place; the value is written as that place writes it, and that form must be hidden. */
export interface Shape {
  readonly name: string;
  /** How the place writes a value. Default: as it is. */
  readonly written?: (value: string) => string;
  readonly text: (written: string) => string;
}

/** A random value's alphabet and length. */
export interface Alphabet {
  readonly name: string;
  readonly characters: string;
  readonly length: number;
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const alphanumeric = `${letters}0123456789`;
const symbols = `${alphanumeric}!@#$%^&*()-_=+[]{};:,.<>/?|~`;

/** Alphabets of values; base64 has 32 characters for 24 bytes. */
export const alphabets: readonly Alphabet[] = [
  ...[8, 12, 16, 20, 32].map((length) => ({ name: `alnum ${length}`, characters: alphanumeric, length })),
  ...[16, 20].map((length) => ({ name: `${length} with symbols`, characters: symbols, length })),
  { name: "hex 32", characters: "0123456789abcdef", length: 32 },
  { name: "base64 24 bytes", characters: `${alphanumeric}+/`, length: 32 },
];

const json = (value: string): string => JSON.stringify(value).slice(1, -1);
const xml = (value: string): string => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const base64 = (value: string): string => Buffer.from(value).toString("base64");
const url = encodeURIComponent;

/** The places that docs/masks.md lists. */
export const shapes: readonly Shape[] = [
  { name: ".env", text: (value) => `DB_HOST=db\nDB_PASSWORD=${value}\nDB_PORT=5432\n` },
  { name: ".env, quoted", text: (value) => `DB_PASSWORD='${value}'\n` },
  { name: "export", text: (value) => `export API_SECRET="${value}"\n` },
  { name: "yaml", text: (value) => `db:\n  user: app\n  password: ${value}\n  port: 5432\n` },
  { name: "yaml, alone", text: (value) => `  password: ${value}\n` },
  { name: "setting, alone", text: (value) => `password = ${value}\n` },
  { name: "yaml, quoted", text: (value) => `db:\n  password: "${value}"\n` },
  { name: "yaml block", text: (value) => `data:\n  client_secret: |\n    ${value}\n  port: 1\n` },
  { name: "json", written: json, text: (value) => `{"user": "app", "password": "${value}"}` },
  {
    name: "json in json",
    written: (value) => json(json(value)),
    text: (value) => `{"out":"{\\"password\\":\\"${value}\\"}"}`,
  },
  { name: "toml", written: json, text: (value) => `[db]\npassword = "${value}"\n` },
  { name: "ini", text: (value) => `[client]\nuser=app\npassword=${value}\n` },
  { name: "properties", text: (value) => `spring.datasource.password=${value}\n` },
  { name: "code", written: json, text: (value) => `const password = "${value}";\nconnect(password);\n` },
  { name: "argument in code", written: json, text: (value) => `connect(host="db", password="${value}", port=1)` },
  { name: "hcl", written: json, text: (value) => `  username = "root"\n  password = "${value}"\n` },
  { name: "dockerfile", text: (value) => `FROM x\nENV ADMIN_PASSWORD='${value}'\nRUN y\n` },
  {
    name: "kubernetes data",
    written: base64,
    text: (value) => `apiVersion: v1\ndata:\n  smtp: ${value}\nkind: Secret\nmetadata:\n  name: x\n`,
  },
  {
    name: "kubernetes stringData",
    text: (value) => `kind: Secret\nmetadata:\n  name: x\nstringData:\n  smtp: "${value}"\n`,
  },
  { name: "name and value, yaml", text: (value) => `env:\n- name: DB_PASSWORD\n  value: "${value}"\n` },
  { name: "name and value, json", written: json, text: (value) => `[{"name":"DB_PASSWORD","value":"${value}"}]` },
  {
    name: "docker auth",
    written: (value) => base64(`ci:${value}`),
    text: (value) => `{"auths":{"r.io":{"auth":"${value}"}}}`,
  },
  {
    name: "npmrc _auth",
    written: (value) => base64(`ci:${value}`),
    text: (value) => `registry=https://r/\n_auth=${value}\n`,
  },
  { name: "npmrc _authToken", text: (value) => `//r.internal/:_authToken=${value}\n` },
  { name: "netrc, one line", text: (value) => `machine h.internal login ci password ${value}\n` },
  { name: "netrc, lines", text: (value) => `machine h.internal\n  login ci\n  password ${value}\n` },
  {
    name: "pgpass",
    text: (value) => `db.internal:5432:app:rw:${value.replaceAll(/[\\:]/g, ".")}\n`,
    written: (value) => value.replaceAll(/[\\:]/g, "."),
  },
  { name: "curl -u", text: (value) => `curl -u 'ci:${value}' https://h/x` },
  { name: "curl -sSu", text: (value) => `curl -sSu 'ci:${value}' https://h/x` },
  { name: "curl -sgu", text: (value) => `curl -sgu 'ci:${value}' https://h/x` },
  { name: "curl -s4u", text: (value) => `curl -s4u 'ci:${value}' https://h/x` },
  { name: "curl -sSu, attached", text: (value) => `curl -sSu'ci:${value}' https://h/x` },
  { name: "curl -sSu, on another line", text: (value) => `curl https://h/x?a=1&b=2 \\\n-sSu 'ci:${value}'` },
  { name: "curl --user=", text: (value) => `curl --user='ci:${value}' https://h/x` },
  { name: "libpq dsn", text: (value) => `host=db port=5432 user=app password=${value} dbname=x` },
  {
    name: "sql server dsn",
    written: (value) => value.replaceAll(";", "."),
    text: (value) => `Server=db;User Id=sa;Password=${value};Encrypt=True`,
  },
  {
    name: "storage connection",
    written: base64,
    text: (value) => `DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${value};EndpointSuffix=core.windows.net`,
  },
  {
    name: "sas",
    written: (value) => url(base64(value)),
    text: (value) => `https://x.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig=${value}`,
  },
  { name: "mysql -p", text: (value) => `mysql -u root -p'${value}' shop` },
  { name: "sshpass -p", text: (value) => `sshpass -p '${value}' ssh root@h` },
  { name: "docker login -p", text: (value) => `docker login -u ci -p '${value}' r.io` },
  { name: "--token", text: (value) => `tool --token '${value}' run` },
  { name: "--password", text: (value) => `tool --user a --password "${value}" run` },
  { name: "--password=", text: (value) => `tool --password='${value}' run` },
  { name: "aws configure set", text: (value) => `aws configure set aws_secret_access_key '${value}'` },
  { name: "redis-cli -a", text: (value) => `redis-cli -h c -a '${value}' ping` },
  {
    name: "kubectl --from-literal",
    text: (value) => `kubectl create secret generic x --from-literal=password='${value}'`,
  },
  {
    name: "xml element",
    written: xml,
    text: (value) => `<server>\n <username>ci</username>\n <password>${value}</password>\n</server>`,
  },
  { name: "xml attribute", written: xml, text: (value) => `<user username="a" password="${value}" roles="x"/>` },
  { name: "gradle", written: json, text: (value) => `credentials {\n  username "ci"\n  password "${value}"\n}` },
  {
    name: "table row",
    written: (value) => value.replaceAll("|", "."),
    text: (value) => `| DB_HOST | db |\n| db_password | ${value} |\n`,
  },
  {
    name: "vault kv get",
    text: (value) => `Key            Value\n---            -----\ndb_password    ${value}\nusername       app\n`,
  },
  {
    name: "vault approle",
    text: (value) => `Key                   Value\n---                   -----\nsecret_id             ${value}\n`,
  },
  { name: "cookie", written: url, text: (value) => `> Cookie: theme=dark; sessionid=${value}\n` },
  { name: "set-cookie", written: url, text: (value) => `< Set-Cookie: session=${value}; Path=/; HttpOnly\n` },
  { name: "header", written: url, text: (value) => `> X-Api-Key: ${value}\n> Accept: */*\n` },
  { name: "query", written: url, text: (value) => `GET /v1/x?api_key=${value}&page=2` },
  { name: "form", written: url, text: (value) => `grant_type=password&username=a&password=${value}&scope=x` },
  { name: "url", written: url, text: (value) => `postgres://app:${value}@db.internal:5432/x` },
  { name: "sql identified by", text: (value) => `CREATE USER 'app'@'%' IDENTIFIED BY '${value}';` },
  { name: "sql password", text: (value) => `ALTER USER app WITH PASSWORD '${value}';` },
  // Without a digit, eight letters in a sentence are taken for a word.
  { name: "prose", written: (value) => `${value}7`, text: (value) => `Log in as ci. The password is ${value}\n` },
  { name: "line numbers", text: (value) => `     3\tuser: app\n     4\tpassword: "${value}"\n` },
  { name: "diff", text: (value) => `-DB_PASSWORD='x'\n+DB_PASSWORD='${value}'\n` },
  { name: "colours", text: (value) => `\u001b[1mDB_PASSWORD\u001b[0m=\u001b[32m'${value}'\u001b[0m\n` },
];

/** Values of an alphabet with a digit, a letter and, where it has them, a symbol, as generators make them. */
export function randomValues({ characters, length }: Alphabet, count: number, random: () => number): readonly string[] {
  const wanted = [/[a-z]/, ...(/[!@]/.test(characters) ? [/[^A-Za-z0-9]/] : [])];
  const values: string[] = [];
  while (values.length < count) {
    const value = Array.from({ length }, () => characters[Math.floor(random() * characters.length)]!).join("");
    // Without quotes of its own a value begins with no mark of the language around it, and ends with none.
    if (wanted.every((one) => one.test(value)) && /^\w.*\w$/.test(value)) values.push(value);
  }
  return values;
}

/** Values of 20 characters with signs anywhere, digits or none, as password managers make them when all is allowed. */
export function harshValues(count: number, random: () => number): readonly string[] {
  const characters = `${alphanumeric}!@#$%^&*()-_=+[]{};:,.?/|~`;
  return Array.from({ length: count }, () =>
    Array.from({ length: 20 }, () => characters[Math.floor(random() * characters.length)]!).join(""),
  );
}
