/** Finds the secret in a connection string: the password. The host and the database may be shown. */

/** `postgres://user:password@host/db`, `user:password@tcp(host:3306)/db`, `Server=host;Password=x`, `host=x password=y`. */
export function credentialsIn(value: string): string[] {
  // `jdbc:` precedes an address.
  const address = value.replace(/^jdbc:/i, "");
  return [...inAddress(address), ...inPairs(value), ...inQuery(address)];
}

/** The secret of a text that is only an address: a key in the place of the user counts, too (`https://KEY@sentry.example/1`). */
export function connectionSecrets(value: string): string[] {
  const [, user = ""] = /^[a-z][\w+.-]*:\/\/([^:@/\s]+)@/i.exec(value) ?? [];
  return [...credentialsIn(value), ...(user.length >= LONG_USER && /\d/.test(user) ? [user] : [])];
}

/** Any other text in a variable for connections is a secret as a whole. */
export function isConnection(value: string): boolean {
  return /^[a-z][\w+.-]*:/i.test(value) || /^[\w ]+=/.test(value) || /@(?:tcp|udp|unix)?\(/.test(value);
}

const LONG_USER = 16;

/** Shorter forms are not redacted. */
const SHORTEST = 8;

function inAddress(value: string): string[] {
  const [, , authority = ""] = /^([a-z][\w+.-]*:)\/\/([^/?#\s]*)/i.exec(value) ?? [];
  const at = authority.lastIndexOf("@");
  if (at !== -1) return forms(authority.slice(0, at));
  // Some passwords contain an unescaped slash or question mark; the text before it is then not a host and a port.
  const loose =
    /^[a-z][\w+.-]*:\/\/([^:@/\s]*:(?!\d*[/?#])[^@\s]+)@[^@\s]*$/i.exec(value) ?? /^([^:@/\s]+:\S+)@(?:tcp|udp|unix)?\(/.exec(value);
  return loose?.[1] === undefined ? [] : forms(loose[1]);
}

/** A short password, or one that is a word, is redacted only in its place: `:postgres@`. */
function forms(userInfo: string): string[] {
  const colon = userInfo.indexOf(":");
  const password = colon === -1 ? "" : userInfo.slice(colon + 1);
  if (password === "") return [];
  const bare = /^[A-Za-z]+$/.test(password) ? [] : [password, decoded(password)].filter((text) => text.length >= SHORTEST);
  if (bare.length > 0) return [...new Set(bare)];
  const used = `:${password}@`;
  return [used.length >= SHORTEST ? used : `${userInfo}@`];
}

const PAIR =
  /(?:^|[;\s])\s*((?:password|passwd|pwd|account ?key|shared ?access ?key|shared ?access ?signature|client ?secret|access ?token|api ?key)\s*=\s*)("[^"]*"|'[^']*'|[^;\s"']+)/gi;

function inPairs(value: string): string[] {
  return [...value.matchAll(PAIR)].flatMap(([, name = "", quoted = ""]) => {
    const text = quoted.replace(/^(["'])(.*)\1$/s, "$2");
    return /^[A-Za-z]+$/.test(text) || text.length < SHORTEST ? [name + quoted] : [text];
  });
}

/** `https://host/path?token=x`, `//host/db?user=a&password=x`, and `jdbc:oracle:thin:user/x@host`. */
function inQuery(value: string): string[] {
  const oracle = /^oracle:\w+:[^/@\s]+\/([^@\s]+)@/i.exec(value)?.[1];
  if (oracle !== undefined) return forms(`:${oracle}`);
  if (!/^[a-z][\w+.-]*:\/\//i.test(value)) return [];
  return [...value.matchAll(QUERY)].flatMap(([, name = "", text = ""]) => {
    if (/^[A-Za-z]+$/.test(text) || text.length < SHORTEST) return [`${name}${text}`];
    return [...new Set([text, decoded(text)])];
  });
}

const QUERY = /[?&;]((?:\w*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)|pwd|sig|signature)=)([^&;#\s]+)/gi;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
