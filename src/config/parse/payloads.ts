import { resolve } from 'node:path';
import { withoutSlash } from '../../lib/without-slash.ts';
import { awsUrl } from '../../secrets/aws-url.ts';
import type { PayloadsBucket, StateDatabase } from '../../state/engine/state-database.ts';
import type { Values } from '../options/field.ts';
import { s3Options } from '../options/s3.ts';
import type { Fault } from '../text/faults.ts';

type S3 = Values<typeof s3Options>;
type Place = Pick<StateDatabase, 'payloadsFolder' | 'payloadsBucket'>;

interface PayloadsOptions {
  /** The value of `payloads`. */
  readonly payloads: string;
  /** The values in `s3`. Undefined if it's absent or has errors. */
  readonly s3: S3 | undefined;
  /** Whether `s3` is in the file. */
  readonly hasS3: boolean;
  /** The config's folder. */
  readonly folder: string;
  readonly report: (fault: Omit<Fault, 'code' | 'path'>) => void;
}

const form = 's3://BUCKET/PREFIX';
const allowed = `postgres, a folder that all machines mount, or ${form}`;
const bucketPattern = /^[\w.-]{3,255}$/;
const prefixPattern = /^(?:(?!\.{1,2}(?:\/|$))[\w.-]+(?:\/|$))*$/;

/** Returns where the payloads of a state in a database are. Reports errors in the options `payloads` and `s3`. */
export function readPayloads({ payloads, folder, report, ...given }: PayloadsOptions): Place {
  if (payloads === 'postgres') return {};
  if (/^s3:\/\//.test(payloads)) return readBucket(payloads, { report, ...given });
  if (/^\w+:\/\//.test(payloads)) report({ message: 'Unknown storage for payloads', allowed });
  return { payloadsFolder: resolve(folder, payloads) };
}

function readBucket(text: string, { s3, hasS3, report }: Pick<PayloadsOptions, 's3' | 'hasS3' | 'report'>): Place {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)\/?(.*)$/s.exec(text) ?? [];
  if (!bucketPattern.test(bucket) || !prefixPattern.test(path)) {
    const next = 'set the address and the login of the store in "s3"';
    report({ message: 'Invalid URL of a bucket', allowed: `${form}, with letters, digits and ._-`, next });
    return {};
  }
  if (s3 === undefined && hasS3) return {};
  if ((s3?.accessKeyId === undefined) !== (s3?.secretAccessKey === undefined)) {
    const next = 'set both, or neither to use the credentials of this machine';
    report({ message: 'An access key requires s3.access_key_id and s3.secret_access_key', next });
  }
  return { payloadsBucket: bucketOf(bucket, withoutSlash(path), s3) };
}

function bucketOf(bucket: string, path: string, s3: Partial<S3> = {}): PayloadsBucket {
  const { endpoint, region = s3Options.region.default!, pathStyle = endpoint !== undefined } = s3;
  const { accessKeyId, secretAccessKey } = s3;
  return {
    bucket,
    prefix: path === '' ? '' : `${path}/`,
    endpoint: withoutSlash(endpoint ?? awsUrl('s3', region)),
    region,
    isPathStyle: pathStyle,
    ...(accessKeyId === undefined || secretAccessKey === undefined ? {} : { key: { accessKeyId, secretAccessKey } }),
  };
}
