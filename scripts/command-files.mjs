/** How `src/cli/load.ts` wants the files of the command: each is a function, and each character a byte, which V8 takes as it lies there. */
import { parseSync, Visitor } from "rolldown/utils";

export const commandFiles = {
  name: "command-files",
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== "chunk") continue;
      const code = inAscii(withoutImport(file.fileName, file.code));
      file.code = `(function (exports, require, importModule, __filename, __dirname) {${code}\n})`;
    }
  },
};

/** Nothing would answer an `import()` in code that V8 got ready-made, so those that are left ask a function for it. */
function withoutImport(name, code) {
  const starts = [];
  new Visitor({ ImportExpression: ({ start }) => starts.push(start) }).visit(parseSync(name, code).program);
  return starts
    .toSorted((one, other) => other - one)
    .reduce((text, at) => `${text.slice(0, at)}importModule${text.slice(at + "import".length)}`, code);
}

/** In literals, where alone such characters are, the escape means the same. */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
