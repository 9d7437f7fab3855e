/**
 * A module that is imported on demand and lies in a chunk with others gets a chunk of its own that only passes its names on. Whoever asks
 * for it asks the chunk itself here, because opening files is what a first turn costs.
 */
const PASSING_ON = /^export \{ (.+) \} from "\.\/(.+)";\s*$/;

export const directImports = {
  name: "direct-imports",
  generateBundle(_options, bundle) {
    const files = Object.values(bundle).filter(({ type }) => type === "chunk");
    const imported = new Set(files.flatMap(({ imports }) => imports));
    const onDemand = files.filter(({ fileName, isEntry }) => !isEntry && !imported.has(fileName));
    const passing = new Map(
      onDemand.flatMap(({ fileName, code }) => {
        const [, names, to] = PASSING_ON.exec(code) ?? [];
        return names === undefined ? [] : [[fileName.split("/").at(-1), { fileName, names, to }]];
      }),
    );
    for (const file of files)
      file.code = file.code.replace(/\bimport\("(\.\/(?:chunks\/)?)([^"/]+)"\)/g, (theirs, folder, name) => {
        const passed = passing.get(name);
        return passed === undefined ? theirs : `import("${folder}${passed.to}").then((chunk) => (${objectOf(passed.names)}))`;
      });
    for (const { fileName } of passing.values()) delete bundle[fileName];
  },
};

/** `{ name: chunk.a }` of `a as name`. */
function objectOf(names) {
  const fields = names.split(", ").map((name) => {
    const [inside, outside = inside] = name.split(" as ");
    return `${outside}: chunk.${inside}`;
  });
  return `{ ${fields.join(", ")} }`;
}
