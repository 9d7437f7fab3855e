/** How long ago something was, for people who choose by it. */

const UNITS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** Takes milliseconds since 1970. */
export function ageOf(at: number): string {
  const seconds = (Date.now() - at) / 1000;
  for (const [unit, length] of UNITS) {
    const count = Math.floor(seconds / length);
    if (count > 0) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}
