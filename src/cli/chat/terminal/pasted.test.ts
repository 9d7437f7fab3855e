import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { pasted } from "./pasted.js";

const paste = (text: string): string => `\u001b[200~${text}\u001b[201~`;

test("the path of an image becomes a mention, however the terminal writes it; all else stays text", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const shot = join(folder, "my shot.PNG");
  writeFileSync(shot, "");
  writeFileSync(join(folder, "a.txt"), "");
  mkdirSync(join(folder, "folder.png"));
  const mention = paste(`@${folder}/my\\ shot.PNG `);
  for (const written of [shot, `'${shot}'`, `"${shot}" `, shot.replace(" ", "\\ "), pathToFileURL(shot).href])
    expect(pasted(paste(written), folder), written).toBe(mention);
  expect(pasted(paste("my\\ shot.PNG"), folder)).toBe(paste("@my\\ shot.PNG "));
  expect(pasted(paste(`'${shot}' my\\ shot.PNG`), folder)).toBe(paste(`@${folder}/my\\ shot.PNG @my\\ shot.PNG `));
  for (const written of [
    `'${shot}' gone.png`,
    "gone.png",
    "a.txt",
    "folder.png",
    `see ${shot}`,
    `${shot}\nnow`,
    "file://%",
    "file:///%.png",
  ])
    expect(pasted(paste(written), folder), written).toBe(paste(written));
});

test("a paste loses what steers the terminal, and a key is left as it is", () => {
  expect(pasted(paste("a\u001b[2J\u202eb\r\nc\td"), "/")).toBe(paste("a[2Jb\nc\td"));
  expect(pasted("\u001b[A", "/")).toBe("\u001b[A");
});
