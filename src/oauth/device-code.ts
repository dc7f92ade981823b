import { registerSecret } from '../lib/redact.ts';
import { unreachable } from './refusal.ts';

/** The vendor's device authorization response (RFC 8628 section 3.2), for consent on another machine. */
export interface DeviceCode {
  /** Our code, which is exchanged for the token. */
  readonly deviceCode: string;
  /** The user code, which the person enters at `address`. */
  readonly userCode: string;
  readonly address: string;
  /** The address, including the user code. */
  readonly fullAddress?: string;
  readonly lifetimeMs: number;
  /** Minimum polling interval. */
  readonly intervalMs: number;
}

/** Defaults for values that a response lacks: a common lifetime, and the polling interval from section 3.2. */
const defaultLifetimeSeconds = 600;
const defaultIntervalSeconds = 5;

/** Parses the vendor's response. Some vendors still call the address `verification_url`, as in the drafts. */
export function readDeviceCode(
  answer: Readonly<Record<string, unknown>>,
  { host, lifetime_seconds = defaultLifetimeSeconds }: { host: string; lifetime_seconds: number | undefined },
): DeviceCode {
  const { device_code, user_code, verification_uri, verification_url, verification_uri_complete: full } = answer;
  const address = addressOf(verification_uri ?? verification_url);
  if (typeof user_code !== 'string' || address === undefined) {
    const seen = `fields ${Object.keys(answer).join(', ')}`;
    throw unreachable(host, { message: `${host} returned no user code`, seen });
  }
  const fullAddress = addressOf(full);
  registerSecret(String(device_code));
  return {
    deviceCode: String(device_code),
    userCode: user_code,
    address,
    fullAddress,
    lifetimeMs: secondsOf(answer.expires_in, lifetime_seconds) * 1000,
    intervalMs: secondsOf(answer.interval, defaultIntervalSeconds) * 1000,
  };
}

/** The address as a URL; undefined if it isn't an HTTP address. A person opens it in a browser. */
function addressOf(value: unknown): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

function secondsOf(value: unknown, otherwise: number): number {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? seconds : otherwise;
}
