/** The key by which an address is limited: IPv4 as is, IPv6 by its /64, the usual size of one subscriber. */
export function subscriber(address: string): string {
  // The address is valid: it comes from a socket or was parsed. Only IPv6 addresses contain a colon.
  if (!address.includes(":")) return address;
  const mapped = ipv4Of(address);
  if (mapped !== null) return mapped;
  const [head = "", tail = ""] = address.toLowerCase().split("%", 1)[0]?.split("::") ?? [];
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

/** The IPv4 address in an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2), or null. */
function ipv4Of(address: string): string | null {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) ?? [];
  if (high === undefined || low === undefined) return null;
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join(".");
}
