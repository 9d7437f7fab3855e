import { expect, test } from "vitest";
import { seatbeltProfile } from "./seatbelt.js";

const boundary = {
  places: [
    { path: "/Users/ada/project", access: "write" as const },
    { path: "/Users/ada/.ssh", access: "hidden folder" as const },
    { path: "/Users/ada/project/.git", access: "write" as const },
    { path: "/Users/ada/.ssh/known_hosts", access: "read" as const },
    { path: "/Users/ada/project/.git/hooks", access: "read" as const },
    { path: '/Users/ada/project/a "b" \\c', access: "hidden file" as const },
  ],
};

test("a profile denies writing, allows the workspace, and ends with the deepest places", () => {
  const profile = seatbeltProfile(boundary, "/private/tmp/s/tmp", "off");
  expect(profile.split("\n").slice(0, 13)).toEqual([
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/fd/") (literal "/dev/dtracehelper"))`,
    '(allow file-write* (subpath "/private/tmp/s/tmp") (subpath "/Users/ada/project") (subpath "/Users/ada/project/.git"))',
    '(allow file-read* (subpath "/Users/ada/project"))',
    '(deny file-read* file-write* (subpath "/Users/ada/.ssh"))',
    '(allow file-read* (subpath "/Users/ada/project/.git"))',
    '(allow file-read* (subpath "/Users/ada/.ssh/known_hosts"))',
    '(deny file-write* (subpath "/Users/ada/.ssh/known_hosts"))',
    '(allow file-read* (subpath "/Users/ada/project/.git/hooks"))',
    '(deny file-write* (subpath "/Users/ada/project/.git/hooks"))',
    '(deny file-read* file-write* (subpath "/Users/ada/project/a \\"b\\" \\\\c"))',
  ]);
  expect(profile.split("\n")[13], "the temporary folder, which may lie in a hidden one").toBe(
    '(allow file-read* file-write* (subpath "/private/tmp/s/tmp"))',
  );
  expect(profile).toContain('(deny file-write-unlink (literal "/Users/ada/project/.git"))');
});

test.each([
  ["off", ["(deny network*)"], ["localhost"]],
  ["loopback", ["(deny network*)", '(allow network* (remote ip "localhost:*"))'], []],
  [{ proxyPort: 4711 }, ["(deny network*)", '(allow network-outbound (remote ip "localhost:4711"))'], ["localhost:*"]],
  ["all", [], ["(deny network*)"]],
] as const)("the network %j", (network, has, lacks) => {
  const profile = seatbeltProfile(boundary, "/t", network);
  for (const rule of has) expect(profile).toContain(rule);
  for (const rule of lacks) expect(profile).not.toContain(rule);
});

test("every parenthesis and quote of a profile is closed", () => {
  const profile = seatbeltProfile(boundary, "/t", "loopback")
    .replaceAll(/\\./g, "")
    .replaceAll(/"[^"]*"/g, "");
  expect(profile).not.toContain('"');
  let open = 0;
  for (const char of profile) {
    open += char === "(" ? 1 : char === ")" ? -1 : 0;
    expect(open).toBeGreaterThanOrEqual(0);
  }
  expect(open).toBe(0);
});
