/** What the vendors' packages, and what talks to them, get in the bundle instead of what they name: ours is lighter and does the same. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Streams that work in batches, and no second HTTP client. */
const NAMES = {
  ReadableStream: ["BatchReadableStream", "batch-readable.ts"],
  TransformStream: ["BatchTransformStream", "batch-transform.ts"],
  TextDecoderStream: ["BatchTextDecoderStream", "batch-transform.ts"],
  Headers: ["LightHeaders", "light-response.ts"],
  Response: ["LightResponse", "light-response.ts"],
  jsonEvents: ["jsonEvents", "json-events.ts"],
  bodyText: ["bodyText", "json-body.ts"],
};
const USERS = /\/node_modules\/(@ai-sdk|aws4fetch|eventsource-parser)\/.*(?<!\?native)$|\/src\/engine\/models\/http\/fetch\.ts$/;
const NATIVE = "?native";

/** The way of every package with the events of an answer: its own, with our transformer at the end. */
const PARSE = "function parseJsonEventStream({";
const PARSE_OURS = `function parseJsonEventStream({ stream, schema }) {
  return stream
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(new TransformStream(jsonEvents((text) => safeParseJSON({ text, schema }), schema)));
}
function parsedByThePackage({`;

/** Every package's way from a request to its text. */
const BODY = "content: JSON.stringify(body),";
const BODY_OURS = "content: bodyText(body),";

/** What makes JSON Schemas of schemas of zod 3: nobody has any, and it brings all of zod 3. */
const ZOD3 = "var zod3ToJsonSchema = (schema, options) => {";
const ZOD3_OURS = `var zod3ToJsonSchema = () => {
  throw new Error("This bundle makes no JSON Schema of a schema of zod 3");
};
var unusedZod3 = (schema, options) => {`;

export const standIns = {
  name: "stand-ins",
  transform: {
    filter: { id: USERS },
    handler(code, id) {
      const ours = id.includes("/@ai-sdk/provider-utils/dist/index.") ? lighter(code) : code;
      const used = Object.entries(NAMES).filter(([name]) => new RegExp(`\\b${name}\\b`).test(ours));
      const imports = used.map(([name, [stand, file]]) => `import { ${stand} as ${name} } from ${JSON.stringify(pathOf(file))};`);
      // They ask whether they were given one, and never are; Node's own would load all of its fetch.
      if (/\binstanceof Request\b/.test(ours)) imports.push("class Request {}");
      return { code: [...imports, ours].join("\n") };
    },
  },
};

/** The MCP client reads the streams of Node's own fetch, and those pipe only through streams of Node: it gets the parser as it is. */
export const nativeParser = {
  name: "native-parser",
  resolveId: {
    filter: { id: /^eventsource-parser\b/ },
    async handler(source, importer) {
      if (!importer?.includes("/node_modules/@modelcontextprotocol/")) return null;
      const { id } = await this.resolve(source, importer, { skipSelf: true });
      return `${id}${NATIVE}`;
    },
  },
  load: {
    filter: { id: /\?native$/ },
    handler: (id) => readFile(id.slice(0, -NATIVE.length), "utf8"),
  },
};

function lighter(code) {
  return replaced(replaced(replaced(code, PARSE, PARSE_OURS), BODY, BODY_OURS), ZOD3, ZOD3_OURS);
}

function replaced(code, theirs, ours) {
  if (code.split(theirs).length !== 2) throw new Error(`@ai-sdk/provider-utils has no '${theirs}' any more: look how it does that now`);
  return code.replace(theirs, () => ours);
}

function pathOf(file) {
  return fileURLToPath(new URL(`../src/engine/models/stand-ins/${file}`, import.meta.url));
}
