import { AwsV4Signer } from 'aws4fetch';
import type { AwsLogin } from '../../secrets/aws-login.ts';

interface S3SignatureOptions {
  readonly login: AwsLogin;
  readonly region: string;
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly url: string;
  /** Headers to sign. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Lowercase hex SHA-256 of the body. The server refuses a body with another hash. */
  readonly sha256: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Returns a request's headers with its signature (AWS Signature Version 4, with the body's hash). */
export async function signS3({
  login: { accessKeyId, secretAccessKey, sessionToken },
  sha256,
  headers,
  now,
  ...request
}: S3SignatureOptions): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    ...{ accessKeyId, secretAccessKey, sessionToken, service: 's3' },
    ...request,
    headers: { ...headers, 'x-amz-content-sha256': sha256 },
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  });
  return Object.fromEntries((await signer.sign()).headers.entries());
}
