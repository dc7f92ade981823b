import type { OAuthDescription } from '../../sdk/oauth.ts';
import type { OptionSet, OptionValues } from '../../sdk/option.ts';

/** Puts the options of a source where a description says `{option}`: in addresses, parameters and what assertions say. */
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

/** Why tokens must not be asked for at an address; undefined where they may be. Plain http is for this machine alone. */
export function addressFault(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return `${address} is not a URL`;
  if (url.protocol === 'http:' && !isLoopback.test(url.hostname)) return `${address} would send secrets unencrypted`;
  return undefined;
}
