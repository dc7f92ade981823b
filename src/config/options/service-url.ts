import { withoutSlash } from '../../lib/without-slash.ts';
import type { Faults } from '../text/faults.ts';
import { isBroken, type Part } from '../text/variables.ts';

const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Returns the URL without credentials and parameters, because either may contain an API key. */
function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//…@').replace(/[?#;].*$/s, (rest) => `${rest[0]}…`);
}

/** Returns the URL without a trailing slash, or undefined if the value isn't a URL. */
export function readServiceUrl(at: Part, faults: Faults): string | undefined {
  const { path } = at;
  const text = String(at.value);
  if (isBroken(at)) return undefined;
  const form = {
    path,
    seen: JSON.stringify(withoutSecrets(text)),
    allowed: 'a URL such as https://app.example.com/api/1.0',
  };
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    faults.add({ code: 'CONFIG_URL', message: 'Invalid service URL: it must start with http:// or https://', ...form });
    return undefined;
  }
  if (url.username !== '' || url.password !== '') {
    faults.add({
      code: 'CONFIG_URL',
      message: "Don't put credentials in the service URL",
      path,
      next: 'remove them from the URL and use api_key or basic instead',
    });
  }
  if (url.search !== '' || url.hash !== '' || url.pathname.includes(';')) {
    faults.add({
      code: 'CONFIG_URL',
      message: 'Invalid service URL: it must not have a query, a fragment or parameters',
      ...form,
    });
  }
  const address = withoutSlash(`${url.origin}${url.pathname.replace(/;.*$/s, '')}`);
  if (!/\/\d+(\.\d+)?$/.test(address)) {
    faults.add({
      code: 'CONFIG_URL',
      message: 'Invalid service URL: it must end with the API version',
      ...form,
      next: `did you mean "${address}/api/1.0"?`,
    });
  }
  if (url.protocol === 'http:' && !isLocal.test(url.hostname)) {
    faults.warn({
      code: 'CONFIG_URL_PLAIN',
      message: 'Credentials are sent unencrypted over the network',
      ...form,
      next: url.port === '' ? `use https://${url.host}${url.pathname}` : "use https, with the service's https port",
    });
  }
  return address;
}
