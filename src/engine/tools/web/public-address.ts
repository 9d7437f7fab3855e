/** Tells addresses of the open internet from those of private machines and networks. */
import { BlockList, isIPv4, isIPv6 } from "node:net";

/** False also for text that is no address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !OWN_V4.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  return GLOBAL_V6.check(address, "ipv6") && !SPECIAL_V6.check(address, "ipv6");
}

const OWN_V4 = subnets("ipv4", [
  ["0.0.0.0", 8], // unspecified, "this network"
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carrier-grade NAT
  ["127.0.0.0", 8], // loopback
  ["169.254.0.0", 16], // link-local, and the clouds' metadata
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, broadcast
]);

/** The range of global addresses: loopback, ULA, link-local, multicast, IPv4-mapped and NAT64 addresses are outside it. */
const GLOBAL_V6 = subnets("ipv6", [["2000::", 3]]);

const SPECIAL_V6 = subnets("ipv6", [
  ["2001::", 23], // Teredo and other protocol assignments
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4: any IPv4 address inside
  ["3fff::", 20], // documentation
]);

function subnets(family: "ipv4" | "ipv6", ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of ranges) list.addSubnet(net, prefix, family);
  return list;
}
