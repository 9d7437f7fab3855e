/** Makes foreign text safe for a terminal. */

/**
 * The text of a model, a tool or a file must not control the terminal (clear it, write to the clipboard, turn text around under an
 * approval): control and direction characters are shown, not obeyed. A pipe gets the text unchanged.
 */
export function shown(text: string, sink: { isTTY?: boolean }): string {
  if (sink.isTTY !== true) return text;
  return text.replace(/\r\n?/g, "\n").replace(STEERING, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Text that a person edits: there such characters are left out. */
export function withoutSteering(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(STEERING, "");
}

// oxlint-disable-next-line no-control-regex
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
