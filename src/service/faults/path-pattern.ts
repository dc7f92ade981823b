import { prefixes } from '../http/prefixes.ts';

/**
 * Compiles a glob pattern for paths: `*` matches within one segment, `**` matches anything. The pattern is matched
 * against both the path below the version (`/datasources/*`) and the whole path. A trailing slash is ignored.
 */
export function pathPattern(pattern: string): (path: string) => boolean {
  const source = pattern
    .split(/(\*\*|\*)/)
    .map(asSource)
    .join('');
  const whole = new RegExp(`^${source}/?$`);
  return (path) =>
    whole.test(path) || prefixes.some((one) => path.startsWith(`${one}/`) && whole.test(path.slice(one.length)));
}

function asSource(part: string): string {
  if (part === '**') return '.*';
  return part === '*' ? '[^/]*' : part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
