import { expect, test } from 'vitest';
import { faults } from './rig.ts';

test('conflicting options are reported before any request is sent', () => {
  expect(faults({})).toEqual([]);
  expect(faults({}, {})).toEqual(['path']);
  expect(faults({ path: 'https://h/a' })).toEqual(['path']);
  expect(faults({ path: 'a', endpoint_url: 'https://h/a' })).toEqual(['endpoint_url']);
  expect(faults({ endpoint_url: 'https://i/a' }, { url: 'https://h', auth: { kind: 'bearer', token: 'x' } })).toEqual([
    'endpoint_url',
  ]);
  expect(faults({}, { url: 'https://h', auth: { kind: 'key', name: 'k' } })).toEqual(['auth']);
  expect(faults({ body: 'x' })).toEqual(['body']);
  expect(faults({ form: { a: 1 } })).toEqual(['form']);
  expect(faults({ method: 'POST', form: { a: 1 } })).toEqual([]);
  expect(faults({ method: 'POST', form: { a: 1 }, body: 'x' })).toEqual(['form']);
  expect(faults({ method: 'POST', form: { a: '{{ tomorow }}' } })).toEqual(['form']);
  expect(faults({ parameters: '{"a":1}' })).toEqual(['parameters']);
  expect(faults({ records: 'r', paging: { kind: 'cursor' } })).toEqual(['paging']);
  expect(faults({ paging: { kind: 'next_link', path: 'n' } })).toEqual(['records']);
  expect(faults({ records: 'r', format: 'csv', paging: { kind: 'next_link', path: 'n' } })).toEqual(['paging']);
  expect(faults({ paging: { kind: 'page', stop_at: 'short' } })).toEqual(['paging']);
});

test('conflicts with templates and logins are reported before any request is sent', () => {
  const window = { start: '2026-01-01' };
  expect(faults({ path: '/{{ window.from }}', window })).toEqual([]);
  expect(faults({ path: '/x', window })).toEqual(['window']);
  expect(faults({ path: '/{{ window.from }}', window: { start: 'soon' } })).toEqual(['window']);
  expect(faults({ path: '/{{ window.from }}' })).toEqual(['path']);
  expect(faults({ path: '/{{ today | shout }}' })).toEqual(['path']);
  expect(faults({ path: '/{{ window.from }}/{{ window.till }}', window })).toEqual(['path']);
  const paged = (value: string, kind: string) =>
    faults({ parameters: [{ name: 'p', value }], records: 'r', paging: { kind, cursor: 'c', path: 'n' } });
  expect(paged('{{ page.number }}', 'page')).toEqual([]);
  expect(paged('{{ page.nubmer }}', 'page')).toEqual(['parameters']);
  expect(paged('{{ page.offset | number }}', 'offset')).toEqual([]);
  expect(paged('{{ page.offset }}', 'page')).toEqual(['parameters']);
  expect(paged('{{ page.token | default: 0 }}', 'cursor')).toEqual([]);
  expect(paged('{{page.token}}', 'next_link')).toEqual(['parameters']);
  expect(paged('{{ page.number }}', 'none')).toEqual(['parameters']);
  expect(faults({ method: 'POST', body: { a: ['{{ tomorow }}'] } })).toEqual(['body']);
  expect(faults({ conditional: true, paging: { kind: 'page' } })).toEqual(['conditional']);
  expect(faults({}, { url: 'https://h', auth: { kind: 'client_credentials' } })).toEqual(['auth']);
  expect(faults({}, { url: 'https://h', auth: { kind: 'login_call' } })).toEqual(['auth', 'auth']);
  expect(faults({ paging: { kind: 'page', total: 'meta.total' } })).toEqual(['records']);
});

test.each<[string, Record<string, unknown>, number]>([
  ['a key as the user of an empty password', { kind: 'basic', user: 'KEY', password: '' }, 0],
  ['a key as the password of an empty user', { kind: 'basic', user: '', password: 'KEY' }, 0],
  ['an empty user and password', { kind: 'basic', user: '', password: '' }, 1],
  ['no password at all', { kind: 'basic', user: 'KEY' }, 1],
  ['an empty token', { kind: 'bearer', token: '' }, 1],
  ['a digest login without a password', { kind: 'digest', user: 'ann' }, 1],
  ['an AWS signature without a region', { kind: 'aws', access_key_id: 'A', secret_access_key: 'b', service: 's3' }, 1],
  ['an HMAC signature', { kind: 'hmac', secret: 's', message: '{{ request.method }} {{ now | epoch }}' }, 0],
  ['an HMAC signature of an unknown part', { kind: 'hmac', secret: 's', message: '{{ requst.method }}' }, 1],
  ['an HMAC signature of a part that no request has', { kind: 'hmac', secret: 's', message: '{{ request.methd }}' }, 1],
  ['an HMAC signature that signs itself', { kind: 'hmac', secret: 's', message: '{{ signature }}' }, 1],
  ['an HMAC signature with the algorithm of a JWT', { kind: 'hmac', secret: 's', message: 'm', algorithm: 'RS256' }, 1],
  ['a JWT with the algorithm of an HMAC', { kind: 'jwt_bearer', token_url: 'https://t', algorithm: 'sha256' }, 1],
])('credentials are checked before any request is sent: %s', (_, auth, count) => {
  expect(faults({}, { url: 'https://h', auth })).toEqual(Array(count).fill('auth'));
});
