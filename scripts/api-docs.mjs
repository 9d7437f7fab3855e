// docs/api.md from the doc comments of what the package exports. An export without a comment is an error.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ENTRIES = [
  ["agent-parley", "src/index.ts"],
  ["agent-parley/engine", "src/engine/index.ts"],
  ["agent-parley/bridge", "src/bridge/index.ts"],
  ["agent-parley/otel", "src/engine/trace/otel-tracer.ts"],
];

const missing = [];

export function apiPage() {
  const parts = ENTRIES.map(([name, file]) => {
    const exported = exportsOf(file).sort((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name));
    return [`## \`${name}\``, ...exported.map(section)].join("\n\n");
  });
  if (missing.length > 0) throw new Error(missing.join("\n"));
  return `# The packages' exports\n\nMade from the comments in the sources by \`node scripts/docs.mjs\`; [sdk.md](sdk.md) says how they go together.\n\n${parts.join("\n\n")}\n`;
}

/** Functions first, then classes, then types. */
function rank({ kind }) {
  return ["function", "const", "class", "interface", "type"].indexOf(kind);
}

function exportsOf(file) {
  const text = readFileSync(file, "utf8");
  const found = [];
  for (const [, list, from] of text.matchAll(/export (?:type )?\{([^}]*)\} from "([^"]+)"/g)) {
    const source = resolved(file, from);
    for (const word of list.split(",")) {
      const [name, as = name] = word
        .replace(/^\s*type\s/, "")
        .trim()
        .split(/\s+as\s+/);
      if (name !== "") found.push(declaration(source, name, as));
    }
  }
  for (const [, name] of text.matchAll(/^export (?:async )?(?:function|class|interface|type|const) (\w+)/gm))
    found.push(declaration(file, name, name));
  return found;
}

function resolved(file, from) {
  const path = join(dirname(file), from.replace(/\.js$/, ".ts"));
  if (!existsSync(path)) throw new Error(`${file} exports from ${from}, which is not there`);
  return path;
}

function declaration(file, name, as) {
  const text = readFileSync(file, "utf8");
  const begin = new RegExp(`^export (?:declare )?(?:async )?(function\\*?|class|interface|type|const) ${name}\\b`, "m").exec(text);
  if (begin === null) {
    const from = new RegExp(`export (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from "([^"]+)"`).exec(text)?.[1];
    if (from === undefined) throw new Error(`${file} has no export ${name}`);
    return declaration(resolved(file, from), name, as);
  }
  const kind = begin[1].replace("*", "");
  const comment = commentBefore(text, begin.index) ?? schemaComment(text, name);
  if (comment === undefined) missing.push(`${file}: the export ${name} has no doc comment`);
  const code = codeOf(text.slice(begin.index), kind);
  return { name: as, kind, words: "", ...comment, code, members: kind === "class" ? membersOf(text.slice(begin.index)) : [] };
}

/** A type that a schema makes is described at the schema, which has its name. */
function schemaComment(text, name) {
  const schema = new RegExp(`^(?:export )?const ${name}\\b`, "m").exec(text);
  return schema === null ? undefined : commentBefore(text, schema.index);
}

function commentBefore(text, at) {
  const before = text.slice(0, at).trimEnd();
  if (!before.endsWith("*/")) return undefined;
  const lines = before
    .slice(before.lastIndexOf("/**"))
    .replace(/^\/\*\*|\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
  const example = lines.indexOf("@example");
  const words = (example === -1 ? lines : lines.slice(0, example)).join("\n").trim();
  return {
    words,
    example:
      example === -1
        ? undefined
        : lines
            .slice(example + 1)
            .join("\n")
            .trim(),
  };
}

/** The declaration without its body; an interface and a type are shown whole. */
function codeOf(text, kind) {
  if (kind === "class") return text.slice(0, text.indexOf("{")).trim();
  if (kind === "function") return signature(text);
  if (kind === "const") return text.slice(0, text.search(/ =[^>]/)).trim();
  const end = kind === "interface" ? text.indexOf("\n}") + 2 : text.search(/;\n/) + 1;
  const one = kind === "interface" && /^[^\n]*\{\}/.test(text) ? text.indexOf("{}") + 2 : end;
  return text.slice(0, one).trim();
}

/** Up to the brace of the body, which stands behind the parameters and the result. */
function signature(text) {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if ("(<".includes(text[at]) || (text[at] === "{" && depth > 0)) depth++;
    if (text[at] === ">" && text[at - 1] === "=") continue;
    if (")>".includes(text[at]) || (text[at] === "}" && depth > 0)) depth--;
    if (text[at] === "{" && depth === 0) return text.slice(0, at).trim();
  }
  throw new Error(`No body: ${text.slice(0, 80)}`);
}

/** Public methods and getters that have a comment. */
function membersOf(text) {
  const body = text.slice(0, text.indexOf("\n}\n"));
  const found = [];
  for (const match of body.matchAll(/^ {2}(?!private|#|constructor|readonly)(?:async )?(?:get )?(\*?\w+|\[Symbol\.\w+\])\(/gm)) {
    const comment = commentBefore(body, match.index);
    if (comment !== undefined) found.push({ name: match[1], ...comment, code: signature(body.slice(match.index)).replace(/^async /, "") });
  }
  return found;
}

function section({ name, words, example, code, members }) {
  const parts = [`### ${name}`, words, block(code.replace(/^export /, ""))];
  if (example !== undefined) parts.push(block(example));
  for (const member of members) {
    parts.push(`#### ${name}.${member.name}`, member.words, block(member.code));
    if (member.example !== undefined) parts.push(block(member.example));
  }
  return parts.filter((part) => part !== "").join("\n\n");
}

function block(code) {
  return `\`\`\`ts\n${code}\n\`\`\``;
}
