/** Hosts that may be reached: `example.com`, `*.example.com` for the hosts below it, `example.com:8443`, `127.0.0.1:3000`, `[::1]:3000`. */

/** Without a port, these count. */
const PORTS: readonly number[] = [443, 80];

interface HostPattern {
  /** In lower case, without brackets. */
  host: string;
  isBelow: boolean;
  port: number | undefined;
}

const FORM = /^(\*\.)?(?:((?!-)[a-z\d-]+(?:\.[a-z\d-]+)*)\.?|\[([a-f\d:.]+)\])(?::(\d{1,5}))?$/i;

function parse(text: string): HostPattern | undefined {
  const [whole, below, name, address, port] = FORM.exec(text) ?? [];
  if (whole === undefined || (below !== undefined && (name === undefined || !name.includes(".")))) return undefined;
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) return undefined;
  return { host: (name ?? address ?? "").toLowerCase(), isBelow: below !== undefined, port: number };
}

export function isHostPattern(text: string): boolean {
  return parse(text) !== undefined;
}

/** The pattern that names the host itself, or else one that names those above it. `host` has no brackets. */
export function patternFor(patterns: readonly string[], host: string, port: number): { isExact: boolean } | undefined {
  const wanted = host.toLowerCase().replace(/\.$/, "");
  const found = patterns
    .flatMap((text) => parse(text) ?? [])
    .filter((pattern) => (pattern.port === undefined ? PORTS.includes(port) : pattern.port === port))
    .filter((pattern) => (pattern.isBelow ? wanted.endsWith(`.${pattern.host}`) : wanted === pattern.host));
  return found.length === 0 ? undefined : { isExact: found.some(({ isBelow }) => !isBelow) };
}
