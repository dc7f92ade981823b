import { engines } from './engines.ts';
import type { DriverName } from './options.ts';
import type { ParameterValues } from './parameter-readers.ts';
import type { DbTlsOptions } from './secure-options.ts';

/** A parameter that can't be used. */
export interface ParameterFault {
  /** The parameter's name and value, which may contain a secret. */
  readonly parameter: string;
  /** Phrased so that it can follow the name of the option that contains the parameter. */
  readonly message: string;
  /** Whether the parameter sets the TLS mode, which the tls option can replace. */
  readonly isTlsMode: boolean;
}

/** Clients spell a parameter differently: `ssl-mode`, `ssl_mode`, `sslMode`. */
const normalized = (name: string) => name.toLowerCase().replaceAll(/[-_]/g, '');

/** Modes with which a connection may be unencrypted although it could be encrypted. */
const opportunistic = /^(allow|prefer(red)?)$/i;

/** Modes in which other clients accept any certificate. */
const unverified = /^(no-verify|accept_invalid_certs|\{"rejectUnauthorized":\s*false\})$/i;

/** The TLS modes; each is stricter than those before it. */
const strictness: readonly DbTlsOptions['mode'][] = ['off', 'require', 'verify-ca', 'verify'];

/**
 * Reads parameters by the names that the servers' own clients use. Unknown parameters are faults, because they may
 * change what is read. Of several TLS modes, the strictest counts; `off` contradicts all others.
 */
export function readParameters(
  driver: DriverName,
  parameters: Iterable<readonly [name: string, value: string]>,
): { readonly values: ParameterValues; readonly faults: readonly ParameterFault[] } {
  let values: ParameterValues = {};
  const faults: ParameterFault[] = [];
  for (const [name, value] of parameters) {
    const result = readParameter(driver, name, value);
    if ('message' in result) {
      faults.push(result);
      continue;
    }
    const modes = [values.tls?.mode, result.tls?.mode].filter((mode) => mode !== undefined);
    if (new Set(modes.map((mode) => mode === 'off')).size > 1) {
      const message = `has ${name}, which contradicts another parameter for TLS; remove one of the two`;
      faults.push({ parameter: name, message, isTlsMode: true });
    }
    const [mode] = modes.toSorted((a, b) => strictness.indexOf(b) - strictness.indexOf(a));
    values = { ...values, ...result, tls: { ...values.tls, ...result.tls, ...(mode === undefined ? {} : { mode }) } };
  }
  return { values, faults };
}

function readParameter(driver: DriverName, name: string, value: string): ParameterValues | ParameterFault {
  const parameter = `${name}=${value}`;
  const key = normalized(name);
  const [, read] = Object.entries(engines[driver].parameters).find(([one]) => normalized(one) === key) ?? [];
  if (read === undefined) return { parameter, message: unknownMessage(driver, name), isTlsMode: false };
  const isTlsMode = tlsModes.includes(key);
  if (isTlsMode && opportunistic.test(value)) return { parameter, message: opportunisticMessage(parameter), isTlsMode };
  if (isTlsMode && unverified.test(value)) return { parameter, message: unverifiedMessage(parameter), isTlsMode };
  const result = read(value);
  if (!('allowed' in result)) return result;
  return { parameter, message: `has ${parameter}, which is not valid; allowed: ${result.allowed}`, isTlsMode };
}

const tlsModes = ['ssl', 'sslmode', 'sslaccept'];

function unverifiedMessage(seen: string): string {
  return `has ${seen}, with which any certificate is accepted; use require or verify-full with the provider's certificate instead, or set tls: { mode: require, verify: false }, which takes precedence`;
}

function opportunisticMessage(seen: string): string {
  return `has ${seen}, with which the connection is unencrypted if the server does not offer TLS; use require instead, or set tls.mode, which takes precedence`;
}

function unknownMessage(driver: DriverName, name: string): string {
  const names = Object.keys(engines[driver].parameters);
  const allowed = names.length === 0 ? 'none' : names.join(', ');
  return `has the unknown parameter ${JSON.stringify(name)}; remove it, or set an option instead. Allowed parameters: ${allowed}`;
}
