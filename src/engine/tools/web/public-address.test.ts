import fc from "fast-check";
import { expect, test } from "vitest";
import { isPublicAddress } from "./public-address.js";

test.each([
  ["unspecified", ["0.0.0.0", "0.1.2.3", "::"]],
  ["loopback", ["127.0.0.1", "127.255.255.255", "::1"]],
  ["private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"]],
  ["link-local", ["169.254.169.254", "fe80::1", "febf::1", "fe80::1%eth0"]],
  ["CGNAT", ["100.64.0.1", "100.127.255.255"]],
  ["ULA and site-local", ["fc00::1", "fd12:3456::1", "fec0::1"]],
  ["multicast and broadcast", ["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1"]],
  ["IPv4 inside IPv6", ["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:7f00:1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1"]],
  ["special", ["192.0.0.1", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "240.0.0.1"]],
  ["special IPv6", ["2001::1", "2001:db8::1", "100::1"]],
  ["no address", ["", "localhost", "1.2.3", "1.2.3.4.5", "example.org", "2130706433", "0x7f.1"]],
])("%s: refused", (_, addresses) => {
  expect(addresses.filter((address) => isPublicAddress(address))).toEqual([]);
});

test("the open internet is let through", () => {
  const open =
    "8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.0.1 172.15.255.255 172.32.0.0 " +
    "192.167.0.1 192.169.0.1 198.17.0.1 198.20.0.1 223.255.255.255 2606:4700:4700::1111 2a00:1450:4001::200e 2001:4860:4860::8888 2003::1";
  expect(open.split(" ").filter((address) => !isPublicAddress(address))).toEqual([]);
});

const octet = fc.nat(255);

test("law: an IPv4 address is open exactly when no special range holds it", () => {
  // The ranges by arithmetic, as a second opinion.
  const special = (a: number, b: number, c: number): boolean =>
    [0, 10, 127].includes(a) ||
    a >= 224 ||
    (a === 100 && b >= 64 && b < 128) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && (b === 168 || (b === 0 && (c === 0 || c === 2)) || (b === 88 && c === 99))) ||
    (a === 198 && (b === 18 || b === 19 || (b === 51 && c === 100))) ||
    (a === 203 && b === 0 && c === 113);
  const first = fc.oneof(octet, fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 203, 224));
  const second = fc.oneof(octet, fc.constantFrom(0, 16, 18, 31, 51, 64, 88, 127, 168, 254));
  fc.assert(
    fc.property(first, second, fc.oneof(octet, fc.constantFrom(0, 2, 99, 100, 113)), octet, (a, b, c, d) => {
      expect(isPublicAddress(`${a}.${b}.${c}.${d}`)).toBe(!special(a, b, c));
    }),
    { numRuns: 2000 },
  );
});

test("law: no IPv4 address passes in an IPv6 coat", () => {
  const hex = (high: number, low: number): string => ((high << 8) | low).toString(16);
  fc.assert(
    fc.property(octet, octet, octet, octet, (a, b, c, d) => {
      const coats = [
        `::ffff:${a}.${b}.${c}.${d}`,
        `::ffff:${hex(a, b)}:${hex(c, d)}`,
        `::${a}.${b}.${c}.${d}`,
        `64:ff9b::${a}.${b}.${c}.${d}`,
        `2002:${hex(a, b)}:${hex(c, d)}::`,
      ];
      expect(coats.filter((coat) => isPublicAddress(coat))).toEqual([]);
    }),
  );
});

test("law: an IPv6 address outside 2000::/3 never passes", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (groups) => {
      const [first = 0] = groups;
      fc.pre(first >> 13 !== 1);
      expect(isPublicAddress(groups.map((group) => group.toString(16)).join(":"))).toBe(false);
    }),
  );
});
