import type { OAuthDescription } from '../../sdk/oauth.ts';
import type { OptionSet, OptionValues } from '../../sdk/option.ts';

/**
 * Replaces `{option}` placeholders in a login description with the values of the source's options. Placeholders may
 * occur in URLs, parameters and assertion claims.
 */
export function fillDescription(description: OAuthDescription, options: OptionValues<OptionSet>): OAuthDescription {
  return fill(description, options) as OAuthDescription;
}

function fill(node: unknown, options: OptionValues<OptionSet>): unknown {
  if (Array.isArray(node)) return node.map((item) => fill(item, options));
  if (typeof node === 'object' && node !== null) {
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, fill(value, options)]));
  }
  if (typeof node !== 'string') return node;
  return node.replace(/\{(\w+)\}/g, (written, name: string) => String(options[name] ?? written));
}

const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Returns the reason why tokens must not be requested from this URL, or undefined if they may be. Plain HTTP is allowed
 * only for this machine.
 */
export function addressFault(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return `${address} is not a URL`;
  if (url.protocol === 'http:' && !isLoopback.test(url.hostname)) return `${address} would send secrets unencrypted`;
  return undefined;
}
