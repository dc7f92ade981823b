import { networkWords, seenIn } from '../../lib/network.ts';
import { isPassingStatus } from '../../lib/passing-answer.ts';
import { Problem, toProblem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import { bucketText, type PayloadsBucket } from '../engine/state-database.ts';

/** What a server said when it refused a request. */
export interface S3Refusal {
  readonly status: number;
  /** The server's error code and message, if it sent any. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  /** The server's time, in epoch milliseconds. */
  readonly date?: number;
}

const unreachable = 'Cannot reach the bucket that contains the payloads';

/** Creates the error for a server that didn't respond. */
export function lostConnection(bucket: PayloadsBucket, error: unknown): Problem {
  const { code, message } = seenIn(error);
  const words = networkWords[code];
  return new Problem({
    code: 'PAYLOADS_UNREACHABLE',
    family: 'try_later',
    message: words === undefined ? unreachable : `${unreachable}: ${words}`,
    seen: `${redact(message)} (${placeOf(bucket)})`,
    next: 'check that the server is running and that this machine can reach it',
    cause: error,
  });
}

/** Creates the error for a response with an error status. */
export function refusedRequest(bucket: PayloadsBucket, { status, code, message }: S3Refusal): Problem {
  const reason = [`status ${status}`, code, message].filter((part) => part !== undefined).join(': ');
  const seen = `${redact(reason)} (${placeOf(bucket)})`;
  if (isPassingStatus(status) || code === 'RequestTimeout')
    return new Problem({
      code: 'PAYLOADS_UNREACHABLE',
      family: 'try_later',
      message: 'The server of the bucket that contains the payloads is not available',
      seen,
      next: "check the server's status and its free space",
    });
  return new Problem({
    code: 'PAYLOADS_REFUSED',
    family: 'config',
    message: 'The server refused access to the bucket that contains the payloads',
    seen,
    next: 'check "payloads" and "s3" in the config; the key needs the rights s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket',
  });
}

/** Creates the error for credentials that this machine doesn't have, or can't get at the moment. */
export function missingLogin(bucket: PayloadsBucket, error: unknown): Problem {
  const { code, message, seen, allowed, next } = toProblem(error, { code: 'PAYLOADS_REFUSED', family: 'config' });
  const isPassing = code === 'CONFIG_SECRET_UNAVAILABLE';
  return new Problem({
    ...(isPassing
      ? { code: 'PAYLOADS_UNREACHABLE', family: 'try_later' }
      : { code: 'PAYLOADS_REFUSED', family: 'config' }),
    message: `Cannot get credentials for the bucket that contains the payloads: ${message}`,
    seen: [seen, `(${placeOf(bucket)})`].filter(Boolean).join(' '),
    allowed,
    next: isPassing
      ? next
      : [next, 'set s3.access_key_id and s3.secret_access_key in the config'].filter(Boolean).join(', or '),
    cause: error,
  });
}

/** Creates the error for a bucket that has neither an object nor the state's marker. */
export function foreignBucket(bucket: PayloadsBucket, marker: string): Problem {
  return new Problem({
    code: 'PAYLOADS_REFUSED',
    family: 'config',
    message: "The bucket does not contain this state's payloads",
    seen: `no object ${marker} (${placeOf(bucket)})`,
    next: 'check "payloads" and "s3" in the config',
  });
}

/** Creates the error for a file that is larger than objects may be. */
export function tooLarge(bytes: number, maxBytes: number): Problem {
  return new Problem({
    code: 'PAYLOADS_TOO_LARGE',
    family: 'job',
    message: 'The file is too large for an object store',
    seen: `${bytes} bytes`,
    allowed: `${maxBytes} bytes`,
    next: 'set "payloads" to a folder that all machines mount, or split the job',
  });
}

const placeOf = (bucket: PayloadsBucket): string => `${bucketText(bucket)} at ${bucket.endpoint}`;
