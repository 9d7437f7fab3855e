/** The classes that the vendors' packages, and the HTTP client that talks to them, get in place of Node's, in the bundle and in tests. */
import { readFileSync } from "node:fs";
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
};
const USERS = /\/node_modules\/(@ai-sdk|aws4fetch|eventsource-parser)\/.*(?<!\?native)$|\/src\/engine\/models\/http\/fetch\.ts$/;
const NATIVE = "?native";

/**
 * The one function whose text is changed: every package reads the events of an answer with it. Ours is the same with another transformer at
 * the end. The text was compared with this version of the package and no other.
 */
const PATCHED = { name: "@ai-sdk/provider-utils", version: "4.0.65" };
const PARSE = "function parseJsonEventStream({";
const PARSE_OURS = `function parseJsonEventStream({ stream, schema }) {
  return stream
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(new TransformStream(jsonEvents((text) => safeParseJSON({ text, schema }), schema)));
}
function parsedByThePackage({`;

export const standIns = {
  name: "stand-ins",
  transform: {
    filter: { id: USERS },
    handler(code, id) {
      const ours = id.includes(`/${PATCHED.name}/dist/index.`) ? patched(code, id) : code;
      const used = Object.entries(NAMES).filter(([name]) => new RegExp(`\\b${name}\\b`).test(ours));
      const imports = used.map(([name, [stand, file]]) => `import { ${stand} as ${name} } from ${JSON.stringify(pathOf(file))};`);
      // The packages ask whether they were given a Request, and never are; Node's own class would load all of its fetch.
      if (/\binstanceof Request\b/.test(ours)) imports.push("class Request {}");
      return { code: [...imports, ours].join("\n"), map: null };
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

function patched(code, id) {
  const { version } = JSON.parse(readFileSync(`${id.slice(0, id.lastIndexOf("/dist/"))}/package.json`, "utf8"));
  if (version !== PATCHED.version || code.split(PARSE).length !== 2) {
    const found = version === PATCHED.version ? `has no '${PARSE}' any more` : `has version ${version} and not ${PATCHED.version}`;
    throw new Error(
      `${PATCHED.name} ${found}: compare its parseJsonEventStream with the one in scripts/stand-ins.mjs, then change PATCHED`,
    );
  }
  return code.replace(PARSE, () => PARSE_OURS);
}

function pathOf(file) {
  return fileURLToPath(new URL(`../src/engine/models/stand-ins/${file}`, import.meta.url));
}
