import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { DigestAuth } from '../../../connectors/simple_rest/digest-auth.ts';
import { signerOf } from '../../../connectors/simple_rest/sign-request.ts';
import { renderProblem } from '../../../src/lib/problem.ts';
import type { HttpRequest, HttpResponse } from '../../../src/sdk/index.ts';
import { sendJson } from '../http-server.ts';
import { ids, numbers, restBench } from './rig.ts';

const { server, extract, failure } = restBench();

afterEach(() => void vi.useRealTimers());

const requestFor = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  ...{ method: 'GET', url: new URL(url), body: undefined, plainHeaders: {}, trustedHeaders: {}, trustedQuery: [] },
  trustedOrigin: new URL(url).origin,
  ...more,
});

const challenge = (...headers: string[]) => ({ headers: { 'www-authenticate': headers } }) as unknown as HttpResponse;

describe('a digest login', () => {
  const common =
    'realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"';

  test.each([
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
  ])('computes the response of the example in RFC 7616: %s', async (algorithm, response) => {
    const clientNonce = () => 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';
    const digest = new DigestAuth({ user: 'Mufasa', password: 'Circle of Life', clientNonce });
    const request = requestFor('http://www.example.org/dir/index.html');
    expect(await digest.sign(request)).toBe(request);
    expect(digest.isChallenged(challenge(`Digest ${common}, algorithm=${algorithm}`))).toBe(true);
    const { authorization } = (await digest.sign(request)).trustedHeaders;
    expect(authorization).toContain(`response="${response}"`);
    expect(authorization).toContain('uri="/dir/index.html"');
    expect(authorization).toContain('nc=00000001');
    expect((await digest.sign(request)).trustedHeaders.authorization).toContain('nc=00000002');
  });

  test('uses the strongest algorithm among several challenges', async () => {
    const digest = new DigestAuth({ user: 'Mufasa', password: 'Circle of Life' });
    const both = `Basic realm="a, b", Digest ${common}, algorithm=MD5, Digest ${common}, algorithm=SHA-256`;
    for (const given of [challenge(both), challenge(...both.split(/, (?=Digest)/))]) {
      expect(digest.isChallenged(given)).toBe(true);
      const { authorization } = (await digest.sign(requestFor('http://h/'))).trustedHeaders;
      expect(authorization).toContain('algorithm=SHA-256');
    }
  });

  test.each([
    'Basic realm="x"',
    'Digest realm="x", nonce="n", algorithm=SHA-3',
    'Digest realm="x", nonce="n", qop="other"',
  ])('does not answer the challenge %s', (header) => {
    expect(new DigestAuth({ user: 'u', password: 'p' }).isChallenged(challenge(header))).toBe(false);
  });

  /** A server that computes the response itself, without `qop` (RFC 2069). */
  function guarded(password: string, nonces: () => string) {
    const h = (text: string) => createHash('md5').update(text).digest('hex');
    return ({ pathname, search, searchParams }: URL, response: ServerResponse) => {
      const { authorization = '' } = server.requests.at(-1)!.headers;
      const nonce = nonces();
      const a1 = h(`ann:rows:${password}`);
      const good = h(`${a1}:${nonce}:${h(`GET:${pathname}${search}`)}`);
      const page = Number(searchParams.get('page'));
      if (authorization.includes(`response="${good}"`)) return sendJson(response, page > 3 ? [] : ids(page, page + 1));
      response.writeHead(401, { 'www-authenticate': `Digest realm="rows", nonce="${nonce}"` }).end();
    };
  }

  test('asks once per nonce, and again when the server changes it', async () => {
    server.answer = guarded('pä"ss', () => (server.requests.length < 4 ? 'n1' : 'n2'));
    const auth = { kind: 'digest', user: 'ann', password: 'pä"ss' };
    expect((await extract({ paging: { kind: 'page' } }, { auth })).rows).toEqual(numbers(1, 4));
    expect(server.requests.map(({ url }) => url.slice(-1))).toEqual(['1', '1', '2', '3', '3', '4']);
  });

  test('with a wrong password is refused after two requests', async () => {
    server.answer = guarded('right', () => 'n1');
    const problem = await failure({}, { auth: { kind: 'digest', user: 'ann', password: 'wrong-4711' } });
    expect(problem).toMatchObject({ code: 'REST_LOGIN', family: 'login' });
    expect(server.requests).toHaveLength(2);
  });
});

describe('an AWS signature', () => {
  const keys = { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

  test("is the one in AWS's own example", async () => {
    vi.useFakeTimers({ now: Date.UTC(2015, 7, 30, 12, 36), toFake: ['Date'] });
    const signer = signerOf({ kind: 'aws', ...keys, region: 'us-east-1', service: 'iam' })!;
    const type = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    const url = 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08';
    const { trustedHeaders } = await signer.sign(requestFor(url, { trustedHeaders: type }));
    expect(trustedHeaders.authorization).toContain(
      'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    );
    expect(trustedHeaders['x-amz-date']).toBe('20150830T123600Z');
  });

  test('covers the page and the body of each request, and is not sent to other origins', async () => {
    server.answer = ({ searchParams }, response) =>
      sendJson(response, searchParams.get('page') === '1' ? ids(1, 2) : []);
    const auth = {
      kind: 'aws',
      ...keys,
      session_token: 'temporary-4711',
      region: 'eu-central-1',
      service: 'execute-api',
    };
    const query = { method: 'POST', body: { q: 'ü' }, paging: { kind: 'page' } };
    expect((await extract(query, { auth })).rows).toEqual(numbers(1, 2));
    const signatures = server.requests.map(({ headers }) => headers.authorization?.split('Signature=')[1]);
    expect(new Set(signatures).size).toBe(2);
    expect(server.requests[0]!.headers).toMatchObject({
      authorization: expect.stringContaining('/eu-central-1/execute-api/aws4_request'),
      'x-amz-security-token': 'temporary-4711',
    });
  });
});

describe('an HMAC signature', () => {
  const key = 'hmac-key-4711';

  test('signs what the config names, as it is sent', async () => {
    const wrong: IncomingHttpHeaders[] = [];
    server.answer = (url, response) => {
      const { method, headers, body } = server.requests.at(-1)!;
      const hash = createHash('sha256').update(body).digest('hex');
      const text = [method, `${url.pathname}${url.search}`, headers['x-time'], headers['x-nonce'], hash].join('\n');
      const good = createHmac('sha512', key).update(text).digest('base64');
      if (headers.authorization !== `HMAC app:${good}`) wrong.push(headers);
      sendJson(response, url.searchParams.get('page') === '1' ? ids(1, 2) : []);
    };
    const auth = {
      ...{ kind: 'hmac', user: 'app', secret: key, algorithm: 'sha512', encoding: 'base64' },
      message:
        '{{ request.method }}\n{{ request.path_and_query }}\n{{ now | epoch }}\n{{ request.nonce }}\n{{ request.body_sha256 }}',
      headers: {
        Authorization: 'HMAC {{ user }}:{{ signature }}',
        'X-Time': '{{ now | epoch }}',
        'X-Nonce': '{{ request.nonce }}',
      },
    };
    const query = { path: '/a b?c=d', method: 'POST', body: 'text', paging: { kind: 'page' } };
    expect((await extract(query, { auth })).rows).toEqual(numbers(1, 2));
    expect(wrong).toEqual([]);
  });

  test('and its key are redacted', async () => {
    server.answer = (_, response) =>
      void response.writeHead(400).end(`${server.requests.at(-1)!.headers['x-signature']} ${key}`);
    const problem = await failure({}, { auth: { kind: 'hmac', secret: key, message: '{{ request.url }}' } });
    expect(renderProblem(problem)).toContain('[redacted] [redacted]');
  });
});
