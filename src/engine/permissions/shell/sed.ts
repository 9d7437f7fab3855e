/**
 * Finds the commands of a sed script that run programs or write files: `e`, `w`, `W`, and the flags `e` and `w` of `s`. One pass, no backtracking.
 */
export interface SedRisks {
  runs: boolean;
  writes: boolean;
}

/** A script that cannot be followed counts as one that runs commands. */
export function sedRisks(script: string): SedRisks {
  const found: SedRisks = { runs: false, writes: false };
  let at = 0;
  while (at < script.length && !found.runs) {
    skip(/[\s;{}!]/);
    address();
    skip(/[\s,!~+]/);
    if (at < script.length) command(script.charAt(at++));
  }
  return found;

  function skip(kind: RegExp): void {
    while (at < script.length && kind.test(script.charAt(at))) at++;
  }

  /** Numbers, `$`, `/text/I`, `\ctextc`; any row of these. */
  function address(): void {
    for (;;) {
      skip(/[\d$,~+\s]/);
      const opener = script.charAt(at);
      if (opener !== "/" && opener !== "\\") return;
      const custom = opener === "\\";
      at += custom ? 2 : 1;
      part(custom ? script.charAt(at - 1) : "/", true);
      skip(/[IM]/);
    }
  }

  function command(name: string): void {
    if ("=dDgGhHnNpPxzF{}".includes(name)) return;
    if ("aic".includes(name)) return line(true);
    if ("#rR".includes(name)) return line(false);
    // A label may end at `;`: what follows it is read as commands.
    if (":btTqQlL".includes(name)) return skip(/[^;}\n]/);
    if (name === "w" || name === "W") return write();
    if (name === "s" || name === "y") return substitution(name);
    found.runs = true;
  }

  function line(joined: boolean): void {
    for (; at < script.length && script.charAt(at) !== "\n"; at++) if (joined && script.charAt(at) === "\\") at++;
  }

  function write(): void {
    const from = at;
    line(false);
    if (!/^\s*\/dev\/std(?:out|err)$/.test(script.slice(from, at))) found.writes = true;
  }

  function substitution(name: string): void {
    const delimiter = script.charAt(at++);
    if (delimiter === "" || delimiter === "\n" || delimiter === "\\") {
      found.runs = true;
      return;
    }
    part(delimiter, name === "s");
    part(delimiter, false);
    for (; name === "s" && at < script.length && /[gpiImMew\d]/.test(script.charAt(at)); at++) {
      if (script.charAt(at) === "e") found.runs = true;
      if (script.charAt(at) !== "w") continue;
      at++;
      return write();
    }
    skip(/[ \t]/);
    if (at < script.length && !/[;}#\n]/.test(script.charAt(at))) found.runs = true;
  }

  /** Skips behind the next delimiter. Programs differ about a delimiter in brackets: after one nothing is certain. */
  function part(delimiter: string, brackets: boolean): void {
    for (; at < script.length; at++) {
      const letter = script.charAt(at);
      if (letter === delimiter) {
        at++;
        return;
      }
      if (letter === "\\") at++;
      else if (letter === "[" && brackets && !bracket(delimiter)) break;
    }
    found.runs = true;
  }

  /** Skips from `[` to its `]`; false if the `]` is not certain. */
  function bracket(delimiter: string): boolean {
    at += script.charAt(at + 1) === "^" ? 2 : 1;
    if (script.charAt(at) === "]") return false;
    for (; at < script.length && script.charAt(at) !== "]"; at++) {
      const next = script.charAt(at + 1);
      if (script.charAt(at) === delimiter) return false;
      if (script.charAt(at) === "\\" && next === "]") return false;
      if (script.charAt(at) === "\\") at++;
      if (script.charAt(at) !== "[" || !".=:".includes(next) || next === "") continue;
      const named = /^\[:[a-z]{1,10}:\]/.exec(script.slice(at, at + 14))?.[0];
      if (named === undefined) return false;
      at += named.length - 1;
    }
    return at < script.length;
  }
}
