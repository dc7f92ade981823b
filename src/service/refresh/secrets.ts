import { registerSecret } from '../../lib/redact.ts';

const telling = /token|secret|password|passwd|api_?key|authorization/i;

/**
 * Registers the secrets in an instance's properties, so that they're redacted from errors and log lines if the pull
 * fails.
 */
export function registerSecretsOf(properties: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value !== 'string') continue;
    if (telling.test(name)) registerSecret(value);
    for (const header of headersIn(name, value)) registerSecret(header);
  }
}

/**
 * `parameters` is a JSON array of {name, value, type} objects. The value of a `header` parameter may be a credential.
 */
function headersIn(name: string, value: string): string[] {
  if (name !== 'parameters') return [];
  try {
    const parameters = JSON.parse(value) as { value?: unknown; type?: unknown }[];
    return parameters.flatMap((one) => (one.type === 'header' && typeof one.value === 'string' ? [one.value] : []));
  } catch {
    return [];
  }
}
