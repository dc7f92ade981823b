import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import {
  beginningOf,
  cutText,
  excerpt,
  excerptAt,
  excerptOfBytes,
  forgetSecrets,
  redact,
  registerEncodedSecret,
  registerSecret,
  retireSecret,
  secretName,
} from '../../src/lib/redact.ts';

afterEach(forgetSecrets);

const odd = `p@ss'w/"ör<d>&%+ \\ 93!`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** How texts of many kinds encode their contents. */
const spellings: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'in an address': encodeURIComponent,
  'in an address, in small letters': (text) =>
    encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  'in an address, twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'in an address, by the newer rules': (text) => encodeURIComponent(text).replaceAll("'", '%27').replaceAll('!', '%21'),
  'in a form': (text) => String(new URLSearchParams({ password: text })),
  'in JSON': (text) => JSON.stringify({ text }),
  'in JSON within JSON': (text) => JSON.stringify({ text: JSON.stringify({ text }) }),
  'in JSON of plain ASCII': (text) => JSON.stringify(text).replaceAll('ö', '\\u00f6'),
  'in JSON that masks slashes': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  'in XML': xml,
  'in an attribute of XML': (text) => xml(text).replaceAll("'", '&apos;'),
  'in a page': (text) => xml(text).replaceAll("'", '&#39;'),
  'in a page, by numbers': (text) => xml(text).replaceAll('&quot;', '&#x22;').replaceAll("'", '&#x27;'),
  'in a dump of an object': (text) => inspect({ text: `${text}"\`` }),
  'in base64': base64,
  'in base64 behind a name': (text) => base64(`user:${text}`),
  'in base64 behind another name': (text) => base64(`someone:${text}`),
  'in base64 amid other things': (text) => base64(`a:${text} and more`),
  'in base64 of an address': (text) => Buffer.from(`ab${text}c`).toString('base64url'),
  'in hexadecimal': (text) => Buffer.from(text).toString('hex'),
  'in capital hexadecimal': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'in a form that encodes every sign': (text) =>
    encodeURIComponent(text).replaceAll(/[-_.!~*'()]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`),
};

describe('a secret', () => {
  it.each(Object.keys(spellings))('is recognized %s', (kind) => {
    for (const secret of ['simple-secret-31', odd]) {
      registerSecret(secret);
      const text = spellings[kind]!(secret);
      const clean = redact(`before ${text} after`);
      expect(clean).toContain('[redacted]');
      expect(clean).toMatch(/^before .* after$/s);
      const shown = clean.replaceAll('[redacted]', '');
      const middle = text.slice(Math.floor(text.length / 2), Math.floor(text.length / 2) + 6);
      expect(shown).not.toContain(middle);
    }
  });

  it('with several lines is recognized line by line, and also if its lines are joined', () => {
    const key = ['-----BEGIN KEY-----', 'MIIEvQIBADANBgkqhkiG9w0', 'BAQEFAASCBKcwggSjAgEAAo', '-----END KEY-----'].join(
      '\n',
    );
    registerSecret(key);
    for (const line of key.split('\n').slice(1, 3)) expect(redact(`see ${line}!`)).toBe('see [redacted]!');
    expect(redact(`see ${key.replaceAll('\n', ' ')}!`)).toBe('see [redacted]!');
    expect(redact(`see ${key.replaceAll('\n', '\r\n')}!`)).toBe('see [redacted]!');
    expect(redact('must begin with -----BEGIN KEY-----')).toContain('-----BEGIN KEY-----');
  });

  it('never appears in an excerpt from a long string, no matter where the string is truncated', () => {
    registerSecret('a-rather-long-secret-0123456789');
    for (let before = 0; before < 60; before++) {
      const shown = excerpt(`${'x'.repeat(before)}a-rather-long-secret-0123456789 ${'y'.repeat(50)}`, 40);
      expect(shown).not.toMatch(/a-r|secret/);
    }
  });

  it("isn't even partly visible in an excerpt from the middle of a string or of another excerpt", () => {
    const secret = '0123456789abcdefghijABCDEFGHIJ'.repeat(2);
    registerSecret(secret);
    const text = `---- ${secret} ----`;
    for (let begin = 0; begin < 65; begin++) {
      // Three characters of a secret reveal nothing; longer parts are recognized.
      for (const piece of [text.slice(begin), text.slice(0, text.length - begin)])
        for (let from = 0; from < piece.length; from += 7)
          expect(excerptAt(piece, from, from + 20).replaceAll('[redacted]', '')).not.toMatch(/[0-9a-jA-J]{4}/);
    }
    expect(excerptAt('a text without any', 2, 6)).toBe('text');
    expect(cutText('a text without any', 6)).toBe('a text…');
    expect(cutText('a text', 6)).toBe('a text');
  });

  it('is recognized even if white space is collapsed', () => {
    registerSecret('two  blanks\tand a tab');
    expect(excerpt('no: two  blanks\tand a tab', 100)).toBe('no: [redacted]');
    expect(redact('no: two blanks and a tab')).toBe('no: [redacted]');
  });

  it('that has expired is no longer redacted in any encoding', () => {
    registerSecret(odd);
    retireSecret(odd);
    for (const spell of Object.values(spellings)) expect(redact(spell(odd))).toBe(spell(odd));
  });

  it("of four characters is redacted, and shorter ones aren't", () => {
    registerSecret('abc');
    expect(redact('abc abcd')).toBe('abc abcd');
    registerSecret('4711');
    expect(redact('pin 4711!')).toBe('pin [redacted]!');
  });

  it('inside a longer secret leaves no part of the longer one visible, whichever is registered first', () => {
    for (const secrets of [
      ['inner-secret', 'outer-inner-secret-outer'],
      ['outer-inner-secret-outer', 'inner-secret'],
    ]) {
      forgetSecrets();
      for (const one of secrets) registerSecret(one);
      expect(redact('see outer-inner-secret-outer, inner-secret')).toBe('see [redacted], [redacted]');
    }
  });

  it('is redacted from its registration until its retirement', () => {
    expect(redact('first-secret second-secret')).toBe('first-secret second-secret');
    registerSecret('first-secret');
    expect(redact('first-secret second-secret')).toBe('[redacted] second-secret');
    registerSecret('second-secret');
    expect(redact('first-secret second-secret')).toBe('[redacted] [redacted]');
    retireSecret('first-secret');
    expect(redact('first-secret second-secret')).toBe('first-secret [redacted]');
  });

  it('that shares a form with an expired one is redacted again after it has been read again', () => {
    registerSecret('two words');
    registerSecret('two  words');
    retireSecret('two  words');
    registerSecret('two words');
    expect(redact('two words')).toBe('[redacted]');
  });

  it('from a URL is recognized in encoded and decoded form, even if its encoding is invalid', () => {
    registerEncodedSecret('p%40ss-word');
    expect(redact('p%40ss-word p@ss-word')).toBe('[redacted] [redacted]');
    registerEncodedSecret('100%-secret');
    expect(redact('100%-secret')).toBe('[redacted]');
  });

  it('is redacted even if a shortened string or an excerpt of bytes ends inside it', () => {
    registerSecret('a-rather-long-secret');
    expect(beginningOf('key a-rather-long-secret', 12)).toBe('key [redacted]');
    expect(beginningOf('key a-rather-long-secret', 100)).toBe('key a-rather-long-secret');
    const bytes = Buffer.from('ä a-rather-long-secret ö');
    expect(excerptOfBytes(bytes, 0, 9)).toBe('ä [redacted]');
    expect(excerptOfBytes(bytes, 6, bytes.length)).toBe('[redacted] ö');
    expect(excerptOfBytes(Buffer.from('ä-plain'), 2, 5)).toBe('-pl');
  });

  it('is redacted completely, and nothing else is, even if an excerpt has several secrets or starts or ends inside one', () => {
    registerSecret('second-secret');
    registerSecret('first-secret');
    expect(excerptAt('a first-secret b second-secret c', 0, 32)).toBe('a [redacted] b [redacted] c');
    expect(excerptAt('a first-secret b second-secret c', 5, 20)).toBe('[redacted] b [redacted]');
    expect(excerptAt('rst-secret b', 0, 12)).toBe('[redacted] b');
    expect(excerptAt('a firs', 0, 6)).toBe('a [redacted]');
    expect(excerptAt('a fir', 0, 5), 'three characters reveal nothing').toBe('a fir');
  });

  it("that is one character surrounded by white space doesn't redact that character elsewhere", () => {
    registerSecret('a      ');
    expect(redact('a cat')).toBe('a cat');
    expect(redact('[a      ]')).toBe('[[redacted]]');
  });
});

it('the name of a field shows whether its value is a secret by its words, not by letters inside other words', () => {
  const secret =
    'key apikey api_key X-API-Key accessKeyId hapikey keys auth Authorization oauth_token X-Auth author_key authorised pass password passcode db.pass PHPSESSION cookie sig signature client-secret addonKey commonKey daemonKey keyphrase ecomPassword standbyPassword';
  const ordinary =
    'author authors authority coauthor keyword keywords key-words keyboard monkey hockey passenger passport compass bypass passage design id';
  expect(secret.split(' ').filter((name) => !secretName.test(name))).toEqual([]);
  expect(ordinary.split(' ').filter((name) => secretName.test(name))).toEqual(['key-words']);
});
