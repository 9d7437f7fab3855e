/**
 * Fills in a profile: `${VARIABLE}` in the values of `env`, and the placeholders. One pass over the author's text fills in everything;
 * filled-in text is never read again, so a message stays a message.
 */

export interface Placeholders {
  MESSAGE: string;
  SESSION_ID: string;
  SESSION_NAME: string;
  PROFILE_DIR: string;
}

const PLACEHOLDER = /\{\{(MESSAGE|SESSION_ID|SESSION_NAME|PROFILE_DIR)\}\}/g;
const EITHER = new RegExp(`\\$\\{([A-Za-z_][A-Za-z0-9_]*)\\}|${PLACEHOLDER.source}`, "g");

export function expand(template: string, values: Placeholders): string {
  return template.replace(PLACEHOLDER, (whole, name: string) => placeholder(whole, name, values));
}

/** Fills in placeholders and `${VARIABLE}`. */
export function expandValue(template: string, values: Placeholders, variable: (name: string) => string): string {
  return template.replace(EITHER, (whole, name: string | undefined, asked: string | undefined) =>
    name === undefined ? placeholder(whole, asked ?? "", values) : variable(name),
  );
}

function placeholder(whole: string, name: string, values: Placeholders): string {
  return isKnown(name, values) ? values[name] : whole;
}

function isKnown(name: string, values: Placeholders): name is keyof Placeholders {
  return Object.hasOwn(values, name);
}
