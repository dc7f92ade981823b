import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { splitWords } from '../../src/config/text/run-command.ts';
import { forgetSecrets, redact } from '../../src/lib/redact.ts';
import { catalog, configWith, folderWith, goodJob, lines, load, transforms } from './fixtures.ts';

const $ = '$';
afterEach(forgetSecrets);

/** The only source's host, after all variables were resolved. */
async function host(written: string, env: Record<string, string> = {}, files: Record<string, string> = {}, top = '') {
  const text = configWith(goodJob, top).replace('host: db.example.com', () => `host: ${JSON.stringify(written)}`);
  const { config, problems } = await load(text, { env: { PATH: process.env.PATH, ...env } }, files);
  return { host: config?.sources.get('shop')?.options.host, problems, codes: problems.map(({ code }) => code) };
}

describe('a variable', () => {
  it('is replaced by a value from the environment, a file or a default, alone or within a string', async () => {
    expect((await host(`${$}{env:H}`, { H: 'a.example' })).host).toBe('a.example');
    expect((await host(`x-${$}{env:A}.${$}{env:B}:1`, { A: 'a', B: 'b' })).host).toBe('x-a.b:1');
    expect((await host(`${$}{env:H:-fallback}`)).host).toBe('fallback');
    expect((await host(`${$}{env:H:-fallback}`, { H: '' })).host).toBe('fallback');
    expect((await host(`${$}{env:H:-}y`)).host).toBe('y');
    expect((await host(`${$}{env:H:-${$}{env:G}}`, { G: 'inner' })).host).toBe('inner');
    expect((await host(`${$}{file:host.txt}`, {}, { 'host.txt': 'from a file\r\n\n' })).host).toBe('from a file');
    const inFolder = `${$}{file:${$}{env:FOLDER:-here}/${$}{env:NAME}.txt}`;
    expect((await host(inFolder, { FOLDER: '.', NAME: 'host' }, { 'host.txt': 'there' })).host).toBe('there');
    expect((await host(inFolder, { NAME: 'host' })).problems[0]?.message).toBe('The file here/host.txt does not exist');
    expect((await host(inFolder)).codes).toEqual(['CONFIG_VARIABLE_UNDEFINED']);
    expect((await host(`${$}{file:host.txt}`, {}, { 'host.txt': '\uFEFFmarked\r\n' })).host).toBe('marked');
  });

  it("can't change the config's structure, no matter what its value is", async () => {
    const evil = 'a: "b" # c\n  port: 1\n- {x: ]';
    expect((await host(`${$}{env:H}`, { H: evil })).host).toBe(evil);
    expect((await host(`${$}{env:H}`, { H: `${$}{env:SECRET}`, SECRET: 's' })).host).toBe(`${$}{env:SECRET}`);
  });

  it("isn't replaced if it's escaped or in a key", async () => {
    expect((await host(`$${$}{env:H}`)).host).toBe(`${$}{env:H}`);
    expect((await host(`a$${$}{b}${$}{env:H}`, { H: 'c' })).host).toBe(`a${$}{b}c`);
    expect((await host('cost 5$ {x}')).host).toBe('cost 5$ {x}');
    const inKey = await load(configWith(goodJob.replace('orders', `"${$}{env:H}"`)), { env: { H: 'x' } });
    expect(inKey.problems.map(({ code }) => code)).toEqual(['CONFIG_NAME']);
  });

  it("causes only one error if it's undefined, although the value also has the wrong type", async () => {
    const text = configWith(goodJob).replace('host: db', `port: ${$}{env:NOT_SET}\n    host: db`);
    expect((await load(text)).problems.map(({ code }) => code)).toEqual(['CONFIG_VARIABLE_UNDEFINED']);
  });

  it("is reported at its own line and column if it's undefined, without hiding other errors", async () => {
    const text = configWith(goodJob)
      .replace('api_key: abcdefabcdef', `api_key: x${$}{env:NOT_SET}y`)
      .replace('query: select 1', `query: |\n      select 1\n      from ${$}{env:TABLE} where ${$}{env:TABLE2}`);
    const { config, problems, refused } = await load(text);
    expect(lines(problems)).toEqual([
      '6:15 CONFIG_VARIABLE_UNDEFINED',
      '16:12 CONFIG_VARIABLE_UNDEFINED',
      '16:31 CONFIG_VARIABLE_UNDEFINED',
    ]);
    expect(problems[0]).toMatchObject({
      message: 'The environment variable NOT_SET is not set',
      next: `set it before starting Sluice (export NOT_SET=…), or give a default: ${$}{env:NOT_SET:-value}`,
      where: { destination: 'main' },
    });
    expect(config!.jobs.size).toBe(0);
    expect(refused.get('orders')).toHaveLength(3);
  });

  it("is reported with the reason if it's misspelled, unterminated or names a missing file", async () => {
    const unknown = await host(`${$}{HOST}`);
    expect(unknown.problems[0]).toMatchObject({
      code: 'CONFIG_VARIABLE',
      next: `write ${$}{env:HOST}, or $${$}{HOST} for the literal text`,
    });
    expect((await host(`${$}{env:H`)).codes).toEqual(['CONFIG_VARIABLE']);
    expect((await host(`${$}{file:nowhere}`)).problems[0]).toMatchObject({
      code: 'CONFIG_VARIABLE_FILE',
      message: 'The file nowhere does not exist',
    });
    expect((await host(`${$}{file:.}`)).codes).toEqual(['CONFIG_VARIABLE_FILE']);
  });

  it("becomes a number or boolean if it's the whole value and the schema expects one, and a string otherwise", async () => {
    const text = configWith(goodJob)
      .replace('api_key: abcdefabcdef', `api_key: ${$}{env:KEY}\n    requests_per_day: ${$}{env:DAY}`)
      .replace('host: db.example.com', `host: ${$}{env:KEY}\n    port: ${$}{env:PORT}\n    compress: ${$}{env:YES}`);
    const env = { KEY: '12345678', DAY: '500', PORT: '5433\n', YES: 'true' };
    const { config, problems } = await load(text, { env });
    expect(problems).toEqual([]);
    expect(config!.destinations.get('main')).toMatchObject({ requestsPerDay: 500, credentials: { key: '12345678' } });
    expect(config!.sources.get('shop')!.options).toMatchObject({ host: '12345678', port: 5433, compress: true });

    const tooLarge = await load(text, { env: { ...env, PORT: '99999' } });
    expect(tooLarge.problems.map(({ seen }) => seen)).toEqual([`99999, from ${$}{env:PORT}`]);

    for (const DAY of ['0500', '500.0', '1e2']) {
      const { problems: found } = await load(text, { env: { ...env, DAY } });
      expect(found.map(({ seen }) => seen)).toEqual(DAY === '500.0' ? [] : [`"${DAY}", from ${$}{env:DAY}`]);
    }

    const wrong = await load(text, { env: { ...env, DAY: 'many', PORT: '1e3', YES: 'yes' } });
    expect(wrong.problems.map(({ seen }) => seen)).toEqual([
      `"many", from ${$}{env:DAY}`,
      `"1e3", from ${$}{env:PORT}`,
      `"yes", from ${$}{env:YES}`,
    ]);
  });
});

describe('a command', () => {
  const allow = 'allow_commands: true';

  it('is rejected, with the line to add, unless the config allows commands', async () => {
    const refused = await host(`${$}{cmd:echo hi}`);
    expect(refused.problems[0]).toMatchObject({
      code: 'CONFIG_COMMANDS_REFUSED',
      next: expect.stringContaining('allow_commands: true'),
    });
    const byVariable = await host(`${$}{cmd:echo hi}`, { OK: 'true' }, {}, `allow_commands: ${$}{env:OK}`);
    expect(byVariable.codes).toContain('CONFIG_COMMANDS_REFUSED');
  });

  it('returns its output without trailing line breaks', async () => {
    expect((await host(`${$}{cmd:printf 'one two\\n\\n'}`, {}, {}, allow)).host).toBe('one two');
    expect((await host(`${$}{cmd:node -e 'console.log({a: 1}.a)'}`, {}, {}, allow)).host).toBe('1');
  });

  it('never runs in a shell', async () => {
    const line = 'echo $HOME `id` $(id) ; id | cat > leaked && true';
    expect((await host(`${$}{cmd:${line}}`, {}, {}, allow)).host).toBe(line.slice(5));
  });

  it('is reported without its output if it fails', async () => {
    const failed = await host(`${$}{cmd:node -e 'console.error("topsecret"); process.exitCode = 3'}`, {}, {}, allow);
    expect(failed.problems[0]).toMatchObject({
      code: 'CONFIG_VARIABLE_COMMAND',
      message: 'The command "node" exited with code 3',
    });
    expect(JSON.stringify(failed.problems[0]!.cause ?? '')).not.toContain('topsecret');
    expect((await host(`${$}{cmd:no-such-program}`, {}, {}, allow)).problems[0]!.message).toBe(
      'The command "no-such-program" was not found',
    );
    expect((await host(`${$}{cmd:}`, {}, {}, allow)).problems[0]!.message).toBe('The command is empty');
    expect((await host(`${$}{cmd:echo 'x}`, {}, {}, allow)).problems[0]!.message).toContain('quote');
  });

  it('is split into words as a shell would split it', () => {
    expect(splitWords(`a  "b c" 'd "e' f\\ g "h\\"i" '' j'k'l`)).toEqual(['a', 'b c', 'd "e', 'f g', 'h"i', '', 'jkl']);
    expect(splitWords('')).toEqual([]);
    expect(splitWords('a "b')).toBeUndefined();
  });
});

describe('secrets', () => {
  it('are redacted as soon as the config is read, no matter where they came from', async () => {
    const folder = await folderWith({ 'token.txt': 'file-token-value\n' });
    const text = configWith(goodJob)
      .replace(
        'host: db.example.com',
        `host: h
    password: literal-password
    auth: {token: "${$}{file:token.txt}", realm: public-realm}
    headers: {x-api-key: "key ${$}{env:HEADER_PART}", accept: application/json}`,
      )
      .replace('abcdefabcdef', `prefix-${$}{env:SECRET_PART}`);
    await writeFile(join(folder, 'sluice.yaml'), text);
    const SLUICE_KEY = 'the-key-of-all-stored-logins-0123456789';
    const env = { SECRET_PART: 'env-secret-part', HEADER_PART: 'header-secret-part', SLUICE_KEY };
    const { problems } = await loadConfig(join(folder, 'sluice.yaml'), { env, catalog, transforms });
    expect(problems).toEqual([]);
    for (const secret of [
      'literal-password',
      'file-token-value',
      'env-secret-part',
      'prefix-env-secret-part',
      'header-secret-part',
      'key header-secret-part',
      SLUICE_KEY,
    ]) {
      expect(redact(`<${secret}>`)).toBe('<[redacted]>');
    }
    for (const plain of ['public-realm', 'application/json', 'db.example.com']) expect(redact(plain)).toBe(plain);
  });

  it("don't include the place of a token in a response, which errors about the response name", async () => {
    const auth = { kind: 'login_call', call: { path: '/login' }, token_path: 'session.token', value: 'a-secret-value' };
    const sources = { api: { connector: 'simple_rest', url: 'http://api.example', auth } };
    const folder = await folderWith({ 'sluice.yaml': JSON.stringify({ version: 1, sources }) });
    await loadConfig(join(folder, 'sluice.yaml'), { env: {} });
    expect(redact('session.token a-secret-value')).toBe('session.token [redacted]');
  });

  it("in a URL, or in a variable whose name looks secret, are registered even if the option isn't secret", async () => {
    await host('postgres://reader:p%40ssword@db.example.com/shop');
    expect(redact('p%40ssword p@ssword')).toBe('[redacted] [redacted]');
    await host(`${$}{env:DB_PASSWORD}`, { DB_PASSWORD: 'by-its-name' });
    expect(redact('by-its-name')).toBe('[redacted]');
    await host(`${$}{env:DB_HOST}`, { DB_HOST: 'plain-host' });
    expect(redact('plain-host')).toBe('plain-host');
  });

  it("don't appear in the errors about them, even if they are short", async () => {
    const text = configWith(goodJob)
      .replace('host: db', `password: 123\n    headers: {authorization: 456}\n    host: db`)
      .replace('abcdefabcdef', 'a b');
    const { problems } = await load(text);
    const told = problems
      .map(({ message, seen, allowed, next }) => JSON.stringify({ message, seen, allowed, next }))
      .join();
    expect(problems).toHaveLength(3);
    expect(told).not.toMatch(/123|456|a b/);
  });

  it.each(['mode: x-1234567890', 'port: 1234567890'])(
    "don't appear in an error about another option (%s)",
    async (line) => {
      const text = configWith(goodJob)
        .replace('abcdefabcdef', '"1234567890"')
        .replace('host: db', `${line}\n    host: db`);
      const [problem] = (await load(text)).problems;
      expect(problem).toMatchObject({ code: 'CONFIG_WRONG_VALUE', seen: expect.stringContaining('[redacted]') });
      expect(JSON.stringify(problem)).not.toContain('1234567890');
    },
  );
});
