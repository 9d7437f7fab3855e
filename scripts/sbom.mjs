/** The bill of materials of the build, in CycloneDX: each package that is in the bundle, and each that an install brings. */
import { readFile } from "node:fs/promises";

/** `bundled` holds the folders of the packages in the bundle. The same sources give the same bytes. */
export async function billOfMaterials(bundled) {
  const own = await readJson("package.json");
  const { packages } = await readJson("package-lock.json");
  const inside = await Promise.all([...bundled].map((root) => readJson(`${root}/package.json`)));
  const installed = Object.keys(own.dependencies).map((name) => ({ name, ...packages[`node_modules/${name}`] }));
  const components = [
    ...inside.map((about) => component(about, packages, "bundled")),
    ...installed.map((about) => component(about, packages, "installed")),
  ].toSorted((one, other) => one["bom-ref"].localeCompare(other["bom-ref"]));
  const unique = [...new Map(components.map((each) => [each["bom-ref"], each])).values()];
  const root = {
    type: "application",
    "bom-ref": purl(own),
    name: own.name,
    version: own.version,
    purl: purl(own),
    licenses: licences(own),
  };
  return `${JSON.stringify(
    {
      bomFormat: "CycloneDX",
      specVersion: "1.6",
      version: 1,
      metadata: { component: root },
      components: unique,
      dependencies: [{ ref: root["bom-ref"], dependsOn: unique.map((each) => each["bom-ref"]) }],
    },
    null,
    2,
  )}\n`;
}

function component(about, packages, how) {
  const locked = Object.entries(packages).find(
    ([place, { version }]) => place.endsWith(`node_modules/${about.name}`) && version === about.version,
  );
  const integrity = locked?.[1].integrity;
  if (integrity === undefined) throw new Error(`package-lock.json has no ${about.name} ${about.version}: run 'npm ci'`);
  return {
    type: "library",
    "bom-ref": purl(about),
    name: about.name,
    version: about.version,
    purl: purl(about),
    licenses: licences(about),
    hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex") }],
    properties: [{ name: "parley:delivery", value: how }],
  };
}

function licences({ license }) {
  return typeof license === "string" ? [/\s/.test(license) ? { expression: license } : { license: { id: license } }] : [];
}

function purl({ name, version }) {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}

async function readJson(path) {
  return JSON.parse(await readFile(path, "utf8"));
}
