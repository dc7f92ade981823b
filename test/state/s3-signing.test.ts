import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { signS3 } from '../../src/state/blobs/sign-s3.ts';

/**
 * The examples in AWS's documentation, "Signature Calculations for the Authorization Header: Transferring Payload in a
 * Single Chunk".
 */
const key = {
  login: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  region: 'us-east-1',
};
const now = Date.UTC(2013, 4, 24);
const url = 'https://examplebucket.s3.amazonaws.com';
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

it('signs a request without a body as AWS does', async () => {
  const headers = await signS3({ ...key, method: 'GET', url: `${url}/?lifecycle`, sha256: hashOf(''), now });
  expect(headers).toMatchObject({
    'x-amz-date': '20130524T000000Z',
    'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  });
});

it('signs a request with a body as AWS does', async () => {
  const headers = await signS3({
    ...key,
    method: 'PUT',
    url: `${url}/test%24file.text`,
    headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    sha256: hashOf('Welcome to Amazon S3.'),
    now,
  });
  expect(headers.authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  );
});
