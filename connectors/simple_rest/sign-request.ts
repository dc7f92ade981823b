import { type HttpRequest, registerSecret } from '#sdk';
import type { Auth } from './auth.ts';
import { DigestAuth } from './digest-auth.ts';
import { HmacSigner } from './hmac-signer.ts';
import type { RequestSigner } from './request-signer.ts';

/** The signer for `auth`; undefined if its credentials don't depend on the request. */
export function signerOf(auth: Auth): RequestSigner | undefined {
  if (auth.kind === 'digest') return new DigestAuth({ user: auth.user!, password: auth.password! });
  if (auth.kind === 'aws') return { sign: (request) => signForAws(request, auth) };
  return auth.kind === 'hmac' ? new HmacSigner(auth) : undefined;
}

/** Signature Version 4, as all AWS services require it. */
async function signForAws(request: HttpRequest, auth: Auth): Promise<HttpRequest> {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken } = auth;
  for (const secret of [secretAccessKey, sessionToken]) registerSecret(secret ?? '');
  const { AwsV4Signer } = await import('aws4fetch');
  const { method, url, body, trustedHeaders } = request;
  const { region, service } = auth;
  const keys = { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey!, ...(sessionToken && { sessionToken }) };
  const content = body === undefined ? {} : { body };
  const given = { method, url: url.href, headers: trustedHeaders, region: region!, service: service!, ...content };
  const signed = await new AwsV4Signer({ ...given, ...keys, allHeaders: true }).sign();
  // The signer replaces characters of the query that AWS requires to be encoded.
  const headers = Object.fromEntries([...signed.headers].filter(([name]) => name !== 'host'));
  return { ...request, url: signed.url, trustedHeaders: headers };
}
