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
  expect(faults({ method: 'POST', body: { a: ['{{ tomorow }}'] } })).toEqual(['body']);
  expect(faults({ conditional: true, paging: { kind: 'page' } })).toEqual(['conditional']);
  expect(faults({}, { url: 'https://h', auth: { kind: 'client_credentials' } })).toEqual(['auth']);
  expect(faults({}, { url: 'https://h', auth: { kind: 'login_call' } })).toEqual(['auth', 'auth']);
  expect(faults({ paging: { kind: 'page', total: 'meta.total' } })).toEqual(['records']);
});
