/** Where AWS finds credentials, as tests set it up: variables, files, a program, a container's agent, a machine with a role. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ACCESS_KEY_ID } from "./aws-signature.js";
import { scratch } from "./processes.js";

export function envKeys(secret: string): { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string } {
  return { AWS_ACCESS_KEY_ID: ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: secret };
}

export type Profiles = Record<string, Record<string, string>>;

/** The two files of AWS in a folder of the test's: keys in one, the rest in the other. */
export function inFiles(profiles: Profiles): Record<string, string> {
  const folder = scratch();
  const lines = (values: Record<string, string>, isKey: boolean): string =>
    Object.entries(values)
      .filter(([name]) => name.startsWith("aws_") === isKey)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join("");
  const files = { AWS_CONFIG_FILE: join(folder, "config"), AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials") };
  const entries = Object.entries(profiles);
  const headings = entries.map(([name]) => (name === "default" ? "[default]" : `[profile ${name}]`));
  writeFileSync(files.AWS_CONFIG_FILE, entries.map(([, values], at) => `${headings[at]}\n${lines(values, false)}`).join("\n"));
  writeFileSync(files.AWS_SHARED_CREDENTIALS_FILE, entries.map(([name, values]) => `[${name}]\n${lines(values, true)}`).join("\n"));
  return files;
}

/** A config file whose default profile asks a program, which notes each time that it ran. */
export function credentialProcess(folder: string, secret: string, minutes: number): string {
  const expires = new Date(Date.now() + minutes * 60_000).toISOString();
  const made = { Version: 1, AccessKeyId: ACCESS_KEY_ID, SecretAccessKey: secret, SessionToken: "made-0123456789", Expiration: expires };
  const program = join(folder, "make.mjs");
  const note = `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(join(folder, "runs"))}, ".");`;
  writeFileSync(program, `${note} console.log(${JSON.stringify(JSON.stringify(made))});`);
  const config = join(folder, "config");
  writeFileSync(config, `[default]\ncredential_process = ${process.execPath} ${program}\n`);
  return config;
}

/** What a container's agent answers, and only to who knows its token. */
export async function containerEndpoint(secret: string): Promise<string> {
  const url = await httpServer((request, response) => {
    if (request.headers.authorization !== "container-0123456789") return response.writeHead(403).end();
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(temporary(secret)));
  });
  return `${url}/credentials`;
}

export const METADATA = "/latest/meta-data/iam/security-credentials/";

/** A machine in AWS that has a role. */
export async function instanceMetadata(secret: string): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const url = await httpServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.method === "PUT") return response.end("metadata-token");
    if (request.headers["x-aws-ec2-metadata-token"] !== "metadata-token") return response.writeHead(401).end();
    return response.end(request.url === METADATA ? "robot" : JSON.stringify({ Code: "Success", ...temporary(secret) }));
  });
  return { url, asked };
}

function temporary(secret: string): Record<string, string> {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  return { AccessKeyId: ACCESS_KEY_ID, SecretAccessKey: secret, Token: "of-the-role-0123", Expiration: until };
}

export async function httpServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return `http://127.0.0.1:${address.port}`;
}
