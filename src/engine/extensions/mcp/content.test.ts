import { expect, test } from "vitest";
import { Redactor } from "../../../core/secrets/redact.js";
import { toolResult } from "./content.js";

test("images are passed on as long as a line can hold them together", () => {
  const image = { type: "image" as const, mimeType: "image/png", data: "A".repeat(5 * 1024 * 1024) };
  const { parts } = toolResult({ content: [image, image, image] }, { outputChars: 1000, redactor: new Redactor() });
  expect(parts.map(({ type }) => type)).toEqual(["image", "image", "text"]);
  expect(parts[2]).toMatchObject({ text: expect.stringContaining("more than 10485760 characters") });
});
