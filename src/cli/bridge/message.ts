/** The turn that a command line asks for. */
import type { Attachment, BridgeTurn } from "../../bridge/index.js";
import { messageOf } from "../../core/errors.js";
import { LINE_CAP } from "../../core/limits.js";
import { readAttachment } from "../../bridge/protocol.js";
import { text, usage, type Parsed } from "../command-line/flags.js";

export async function turnOf(parsed: Parsed): Promise<BridgeTurn> {
  const said = text(parsed, "message");
  if (said === undefined) throw usage("There is no message: parley bridge run PROFILE --message TEXT (or - for stdin)");
  const attachments = [
    ...all(parsed, "image-url").map((url): Attachment => ({ type: "image", url, name: "" })),
    ...all(parsed, "file-url").map((url): Attachment => ({ type: "file", url, name: "" })),
    ...all(parsed, "attachment").map(attachment),
  ];
  const message = said === "-" ? await readStdin() : said;
  if (message === "" && attachments.length === 0) throw usage("The message is empty, and nothing is attached");
  return { message, sessionName: text(parsed, "session-name") || "default", from: text(parsed, "from") ?? "", attachments };
}

function all(parsed: Parsed, flag: string): string[] {
  return (parsed.values.get(flag) ?? []).flatMap((value) => (value === true ? [] : [value]));
}

function attachment(json: string): Attachment {
  const [read] = readAttachment(parsedJson(json));
  if (read === undefined) throw usage(`--attachment needs a type and a url, as in {"type":"image","url":"https://…"}, not '${json}'`);
  return read;
}

function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw usage(`--attachment takes a JSON object: ${messageOf(error)}`);
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size > LINE_CAP) throw usage(`The message on stdin is longer than ${LINE_CAP} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString();
}
