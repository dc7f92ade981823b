import { afterEach, describe, expect, it } from 'vitest';
import ftp from '../../connectors/ftp/index.ts';
import { ftpContext, ownFolder, readFtp } from './ftp-harness.ts';
import { type FtpScript, listLine, openFtpScript, type ScriptedFtp } from './ftp-script.ts';

const folder = ownFolder();
let server: ScriptedFtp | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const three = () =>
  new Map([
    ['/in/a.csv', 'x\na\n'],
    ['/in/b.csv', 'x\nb\n'],
    ['/in/c.csv', 'x\nc\n'],
  ]);
/** b is the newest. */
const times = { 'a.csv': '20260101030405', 'b.csv': '20260103030405', 'c.csv': '20260102030405' } as const;
const timeOf = (path: string) => times[path.split('/').at(-1) as keyof typeof times] as string | undefined;

/** Reads from a server that behaves as configured; by default all three files of /in. */
async function read(
  script: Partial<FtpScript>,
  query: object = {},
  run: { watermark?: string; source?: object; warn?: (message: string, facts?: object) => void } = {},
) {
  server ??= await openFtpScript({ files: three(), ...script });
  const { watermark, warn, source } = run;
  return await readFtp({
    source: { ...server.source, ...source },
    query: { path: 'in/*.csv', ...query },
    watermark,
    ...(warn === undefined ? {} : { warn }),
  });
}

const rowsOf = ({ rows }: { rows: readonly unknown[] }) => rows.flat();
const mdtm = (verb: string, path: string) =>
  verb === 'MDTM' && timeOf(path) !== undefined ? `213 ${timeOf(path)}` : undefined;

describe('a broken transfer', () => {
  const rows = (value: string) =>
    `id,v\n${Array.from({ length: 40_000 }, (_, i) => `${100_000 + i},${value}\n`).join('')}`;

  /** The first transfer breaks in the middle. Then the file is replaced with another one of the same size. */
  const replaced = (change: (files: Map<string, string>) => void): Partial<FtpScript> => {
    const files = new Map([['/in/a.csv', rows('x')]]);
    let transfers = 0;
    return {
      files,
      retrieve: (_path, _rest, whole) => {
        transfers += 1;
        if (transfers > 1) return whole;
        change(files);
        return { bytes: whole.bytes.subarray(0, 200_000), end: '426 broken' };
      },
    };
  };
  const valuesOf = (table: { rows: readonly (readonly unknown[])[] }) => [...new Set(table.rows.map(([, v]) => v))];

  it('restarts if no timestamp proves that the file is unchanged', async () => {
    const script = replaced((files) => files.set('/in/a.csv', rows('y')));
    const noTime = (verb: string) => (verb === 'MDTM' ? '502 not known' : undefined);
    const warned: unknown[] = [];
    const table = await read(
      { ...script, reply: noTime },
      { path: 'in/a.csv' },
      { warn: (_, facts) => warned.push(facts) },
    );
    expect(valuesOf(table)).toEqual(['y']);
    expect(warned).toMatchObject([{ at: 0 }]);
  });

  it('restarts if the last bytes before the break differ, even if size and time are the same', async () => {
    const table = await read(
      replaced((files) => files.set('/in/a.csv', rows('y'))),
      { path: 'in/a.csv' },
    );
    expect(table.rows.length).toBe(40_000);
    expect(valuesOf(table)).toEqual(['y']);
  });

  it('resumes in the middle if size, time and the last bytes are the same', async () => {
    const table = await read(
      replaced(() => undefined),
      { path: 'in/a.csv' },
    );
    expect(table.rows.length).toBe(40_000);
    expect(server!.commands.filter((line) => line.startsWith('REST'))).toEqual([`REST ${200_000 - 65_536}`]);
  });

  it('keeps everything that had arrived, no matter how slow its consumer was', async () => {
    const content = `x\n${'a\n'.repeat(600_000)}`;
    const retrieve: FtpScript['retrieve'] = (_path, rest, whole) =>
      rest === 0 ? { bytes: whole.bytes.subarray(0, 900_000), end: '426 broken' } : whole;
    server = await openFtpScript({ files: new Map([['/in/a.csv', content]]), retrieve });
    const warned: unknown[] = [];
    const warn = (_: string, facts?: object) => warned.push(facts);
    const context = ftpContext({ source: server.source, query: { path: 'in/a.csv' }, warn }, folder());
    // While the reader is busy with one chunk, the rest arrives and the server reports the broken transfer.
    const alive = () => {
      for (const until = performance.now() + 50; performance.now() < until; );
    };
    await ftp.extract({ ...context, alive });
    expect(warned).toMatchObject([{ at: 900_000 }]);
  });

  it('restarts if the server claims to resume but sends the file from the beginning', async () => {
    let transfers = 0;
    const content = rows('x');
    const retrieve: FtpScript['retrieve'] = (_path, _rest, { end }) => {
      transfers += 1;
      const bytes = Buffer.from(content);
      return transfers === 1 ? { bytes: bytes.subarray(0, 200_000), end: '426 broken' } : { bytes, end };
    };
    const table = await read({ files: new Map([['/in/a.csv', content]]), retrieve }, { path: 'in/a.csv' });
    expect(table.rows.length).toBe(40_000);
  });

  it('never joins two versions of a file whose times differ, even if only their first rows differ', async () => {
    let modified = '20260102030405';
    const script = replaced((files) => {
      files.set('/in/a.csv', `id,v\n1,y   \n${rows('x').slice(12)}`);
      modified = '20260102030406';
    });
    const reply = (verb: string) => (verb === 'MDTM' ? `213 ${modified}` : undefined);
    await expect(read({ ...script, reply }, { path: 'in/a.csv' })).rejects.toMatchObject({
      code: 'FTP_FILE_CHANGED',
      family: 'try_later',
      seen: expect.stringContaining('2026-01-02T03:04:06'),
    });
  });

  it.each(['501 no', '502 not known', '504 not so'])(
    'restarts if the server responds with %s to a request to resume',
    async (answer) => {
      const script = replaced(() => undefined);
      const reply = (verb: string) => (verb === 'REST' ? answer : undefined);
      const table = await read({ ...script, reply }, { path: 'in/a.csv' });
      expect(table.rows.length).toBe(40_000);
      expect(new Set(table.rows.map(([id]) => id)).size).toBe(40_000);
    },
  );

  it('resumes where it ended if the server reports an incomplete transfer as complete', async () => {
    let transfers = 0;
    const files = new Map([['/in/a.csv', rows('x')]]);
    const retrieve: FtpScript['retrieve'] = (_path, _rest, { bytes, end }) => {
      transfers += 1;
      return { bytes: transfers === 1 ? bytes.subarray(0, 200_000) : bytes, end };
    };
    const warned: unknown[] = [];
    const warn = (_: string, facts?: object) => warned.push(facts);
    const table = await read({ files, retrieve }, { path: 'in/a.csv' }, { warn });
    expect(table.rows.length).toBe(40_000);
    expect(warned).toMatchObject([{ at: 200_000 }]);
  });

  it('makes no further request if all bytes arrived before it broke', async () => {
    const retrieve: FtpScript['retrieve'] = (_path, _rest, { bytes }) => ({ bytes, end: '426 broken' });
    const table = await read({ files: new Map([['/in/a.csv', rows('x')]]), retrieve }, { path: 'in/a.csv' });
    expect(table.rows.length).toBe(40_000);
    expect(server!.commands.filter((line) => /^(RETR|REST)/.test(line))).toEqual(['RETR /in/a.csv']);
  });

  it('fails if more bytes arrive than the file has', async () => {
    const retrieve: FtpScript['retrieve'] = (_path, _rest, { bytes, end }) => ({
      bytes: Buffer.concat([bytes, Buffer.from('1,y\n')]),
      end,
    });
    const reading = read({ files: new Map([['/in/a.csv', rows('x')]]), retrieve }, { path: 'in/a.csv' });
    await expect(reading).rejects.toMatchObject({
      code: 'FTP_FILE_CHANGED',
      seen: `received more than the expected ${rows('x').length} bytes`,
    });
  });

  it('fails if the file is gone or has another size after the read', async () => {
    for (const [change, seen] of [
      [(files: Map<string, string>) => files.delete('/in/a.csv'), 'it no longer exists'],
      [(files: Map<string, string>) => files.set('/in/a.csv', 'id,v\n'), '5 bytes, previously 360005'],
    ] as const) {
      const files = new Map([['/in/a.csv', rows('x')]]);
      const retrieve: FtpScript['retrieve'] = (_path, _rest, whole) => {
        change(files);
        return whole;
      };
      const reading = read({ files, retrieve }, { path: 'in/a.csv' });
      await expect(reading).rejects.toMatchObject({ code: 'FTP_FILE_CHANGED', family: 'try_later', seen });
      await server!.close();
      server = undefined;
    }
  });

  it('fails if the server can neither resume nor restart', async () => {
    let downloads = 0;
    const reply = (verb: string) => {
      if (verb === 'REST') return '502 not known';
      downloads += verb === 'RETR' ? 1 : 0;
      return verb === 'RETR' && downloads > 1 ? '550 not for you' : undefined;
    };
    const reading = read({ ...replaced(() => undefined), reply }, { path: 'in/a.csv' });
    await expect(reading).rejects.toMatchObject({ code: 'FTP_DENIED' });
  });

  it("fails after some attempts if it breaks at the same position each time and can't resume", async () => {
    const reading = read(
      {
        files: new Map([['/in/a.csv', rows('x')]]),
        reply: (verb) => (verb === 'MDTM' ? '502 not known' : undefined),
        retrieve: (_path, _rest, { bytes }) => ({ bytes: bytes.subarray(0, 200_000), end: '426 broken' }),
      },
      { path: 'in/a.csv' },
    );
    await expect(reading).rejects.toMatchObject({ code: 'FTP_LOST', family: 'try_later' });
    expect(server!.commands.filter((line) => line.startsWith('RETR')).length).toBe(6);
  });
});

describe('a listing', () => {
  it.each(['?!', '-rw-r--r-- 1 o g', 'b.csv'])(
    'with the line %s causes an error that shows that line',
    async (line) => {
      const list = (_: string, names: readonly string[]) =>
        names.map((name) => (name === 'b.csv' ? line : listLine(name, 4))).join('\r\n');
      for (const files of ['all', 'newest', 'changed']) {
        await expect(read({ list }, { files })).rejects.toMatchObject({
          code: 'FTP_LISTING',
          family: 'job',
          seen: line,
        });
      }
    },
  );

  it('can have permissions that end with @ or ., and four-letter months', async () => {
    const list = (_: string, names: readonly string[]) =>
      names
        .map((name, i) => listLine(name, 4, { rights: `-rw-r--r--${'.@+'[i]}`, date: 'juin 02 03:04' }))
        .join('\r\n');
    expect(rowsOf(await read({ list }))).toEqual(['a', 'b', 'c']);
    expect(rowsOf(await read({ list, reply: mdtm }, { files: 'newest' }))).toEqual(['c']);
  });

  it('is requested again without -a if LIST -a returns nothing', async () => {
    let isAll = false;
    const list = (_: string, names: readonly string[]) =>
      isAll ? '' : names.map((name) => listLine(name, 4)).join('\r\n');
    const noting: FtpScript['reply'] = (verb, argument) => {
      if (verb === 'LIST') isAll = argument === '-a';
      return undefined;
    };
    expect(rowsOf(await read({ list, reply: noting }))).toEqual(['a', 'b', 'c']);
  });

  it('covers all folders even if it writes types in capitals or omits them', async () => {
    const files = new Map([...three(), ['/in/sub/d.csv', 'x\nd\n'], ['/in/bare/e.csv', 'x\ne\n']]);
    const mlsd = (_: string, names: readonly string[]) =>
      names
        .map((name) =>
          name === 'bare'
            ? 'modify=20260102030405; bare'
            : name === 'sub'
              ? 'Type=Dir; sub'
              : `Type=File;Size=4;Modify=20260102030405; ${name}`,
        )
        .join('\r\n');
    expect(rowsOf(await read({ files, mlsd }, { path: 'in/**/*.csv' }))).toEqual(['a', 'b', 'e', 'c', 'd']);
  });

  it("with an invalid time is accepted, and the file's time is requested separately", async () => {
    const mlsd = (_: string, names: readonly string[]) =>
      names.map((name) => `type=file;size=4;modify=unknown; ${name}`).join('\r\n');
    expect(rowsOf(await read({ mlsd, reply: mdtm }, { files: 'newest' }))).toEqual(['b']);
  });
});

describe('a listed file', () => {
  const refused = (verb: string, path: string) =>
    ['SIZE', 'MDTM', 'RETR'].includes(verb) && path.endsWith('b.csv') ? '550 Permission denied' : mdtm(verb, path);
  const mlsd = (_: string, names: readonly string[]) =>
    names.map((name) => `type=file;size=4;modify=${timeOf(name)}; ${name}`).join('\r\n');

  it.each([
    ['LIST', {}],
    ['MLSD', { mlsd }],
  ])('in a %s listing causes an error that names the file if SIZE rejects it', async (_, listing) => {
    for (const files of ['all', 'newest', 'changed']) {
      await expect(read({ ...listing, reply: refused }, { files })).rejects.toMatchObject({
        code: 'FTP_DENIED',
        family: 'job',
        message: expect.stringContaining('/in/b.csv'),
        seen: expect.stringContaining('Permission denied'),
      });
    }
  });

  it("is skipped if it disappears before it's checked", async () => {
    const files = three();
    const list = (_: string, names: readonly string[]) => {
      files.delete('/in/b.csv');
      return names.map((name) => listLine(name, 4)).join('\r\n');
    };
    expect(rowsOf(await read({ files, list }))).toEqual(['a', 'c']);
  });

  it("is skipped if it's a dangling or circular link, but causes an error if access is denied", async () => {
    const link = (name: string, target: string) => listLine(`${name} -> ${target}`, 5, { rights: 'lrwxrwxrwx' });
    const links = [
      link('lost.csv', 'none.csv'),
      link('far.csv', '../none/x.csv'),
      link('x.csv', 'y.csv'),
      link('y.csv', 'x.csv'),
    ];
    const list = (more: readonly string[]) => (folder: string, names: readonly string[]) =>
      folder === '/'
        ? listLine('in', 5, { rights: 'drwxr-xr-x' })
        : [...names.map((name) => listLine(name, 4)), ...more].join('\r\n');
    expect(rowsOf(await read({ list: list(links) }))).toEqual(['a', 'b', 'c']);
    await server!.close();
    server = undefined;
    const reading = read({ list: list([link('l.csv', 'b.csv')]), reply: refused }, { path: 'in/l*.csv' });
    await expect(reading).rejects.toMatchObject({ code: 'FTP_DENIED', message: expect.stringContaining('/in/l.csv') });
  });

  it("causes an error if it's a link on a server without SIZE, because the link's target can't be checked", async () => {
    const list = (_: string, names: readonly string[]) =>
      names
        .map((name) => (name === 'b.csv' ? listLine('b.csv -> a.csv', 5, { rights: 'lrwxrwxrwx' }) : listLine(name, 4)))
        .join('\r\n');
    const reply = (verb: string) => (verb === 'SIZE' ? '502 not known' : undefined);
    await expect(read({ list, reply })).rejects.toMatchObject({
      code: 'FTP_NO_SIZE',
      message: expect.stringContaining('b.csv'),
    });
  });

  it("is skipped with a warning if its name is that of an unfinished upload, unless it's requested by name", async () => {
    const files = new Map([...three(), ['/in/d.csv.filepart', 'x\nhalf'], ['/in/e.csv.part', 'x\nhalf']]);
    const query = { path: 'in/*', format: 'csv' };
    server = await openFtpScript({ files });
    const warnings: unknown[] = [];
    const context = ftpContext({ source: server.source, query }, folder());
    await ftp.extract({ ...context, warn: (warning) => warnings.push(warning) });
    expect(warnings).toMatchObject([{ code: 'FILES_UPLOADING', seen: 'in/d.csv.filepart, in/e.csv.part' }]);
    expect(rowsOf(await read({}, query))).toEqual(['a', 'b', 'c']);
    expect(rowsOf(await read({}, { ...query, path: 'in/*.part' }))).toEqual(['half']);
    const waiting = { code: 'FILES_NOT_COMPLETE', next: expect.stringContaining('unfinished upload') };
    await expect(read({}, { ...query, path: 'in/d*' })).rejects.toMatchObject(waiting);
  });

  it('in a linked folder is skipped with a warning', async () => {
    const files = new Map([...three(), ['/elsewhere/d.csv', 'x\nd\n'], ['/in/linked/d.csv', 'x\nd\n']]);
    const list = (_: string, names: readonly string[]) =>
      names
        .map((name) =>
          name === 'linked' ? listLine('linked -> ../elsewhere', 5, { rights: 'lrwxrwxrwx' }) : listLine(name, 4),
        )
        .join('\r\n');
    server = await openFtpScript({ files, list });
    const warnings: unknown[] = [];
    const context = ftpContext({ source: server.source, query: { path: 'in/**/*.csv' } }, folder());
    await ftp.extract({ ...context, warn: (warning) => warnings.push(warning) });
    const query = { ...context.query, path: 'in/*', format: 'csv' } as typeof context.query;
    await ftp.extract({ ...context, query, warn: (warning) => warnings.push(warning) });
    expect(warnings).toMatchObject(Array(2).fill({ code: 'FTP_LINKED_FOLDERS', seen: '1 link' }));
    expect(rowsOf(await read({}, { path: 'in/linked/*.csv' }))).toEqual(['d']);
  });

  it('takes its size from the listing if SIZE returns no number', async () => {
    expect(rowsOf(await read({ reply: (verb) => (verb === 'SIZE' ? '213 File status' : undefined) }))).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('causes an error if its name contains a line break', async () => {
    const files = new Map([...three(), ['/in/d\r.csv', 'x\nd\n']]);
    await expect(read({ files })).rejects.toMatchObject({ code: 'FTP_NAME', family: 'job' });
  });
});

describe('changed files', () => {
  const changed = { files: 'changed' };

  it('cause an error instead of counting as unchanged if their folder is missing or denied', async () => {
    const { watermark } = await read({ reply: mdtm }, changed);
    await server!.close();
    server = undefined;
    const gone = read({ reply: (verb) => (verb === 'CWD' ? '550 denied' : undefined) }, changed, {
      watermark: watermark!,
    });
    await expect(gone).rejects.toMatchObject({ code: 'FTP_NOT_FOUND', family: 'job' });
  });

  it("that were read don't count as pending if their markers are deleted", async () => {
    const files = new Map([...three(), ...[...three().keys()].map((path): [string, string] => [`${path}.ok`, ''])]);
    const query = { ...changed, marker: '.ok' };
    const { watermark } = await read({ files, reply: mdtm }, query);
    for (const path of three().keys()) files.delete(`${path}.ok`);
    const run = { source: server!.source, query: { path: 'in/*.csv', ...query }, watermark };
    const context = ftpContext(run, folder());
    const told: object[] = [];
    await ftp.extract({ ...context, log: { ...context.log, debug: (_, facts = {}) => told.push(facts) } });
    expect(told).toContainEqual({ found: 3, chosen: 0, pending: 0 });
  });

  it('are read regardless of their times, even after a file dated in the future', async () => {
    const files = new Map([['/in/wrong.csv', 'x\nwrong\n']]);
    const reply = (verb: string, path: string) =>
      verb === 'MDTM' && path.endsWith('wrong.csv') ? '213 20380101000000' : mdtm(verb, path);
    const first = await read({ files, reply }, changed);
    expect(rowsOf(first)).toEqual(['wrong']);
    for (const [path, content] of three()) files.set(path, content);
    const second = await read({ files, reply }, changed, { watermark: first.watermark! });
    expect(rowsOf(second)).toEqual(['a', 'b', 'c']);
    expect(await read({ files, reply }, changed, { watermark: second.watermark! })).toMatchObject({
      rows: [],
      unchanged: true,
    });
  });
});

describe('an unusual server', () => {
  it.each(['450 no', '501 no', '503 no', '552 no', '553 no'])(
    'is never asked for a pattern as if it were a file (%s)',
    async (answer) => {
      const reply = (_: string, argument: string) => (argument.includes('*') ? answer : undefined);
      expect(rowsOf(await read({ reply }))).toEqual(['a', 'b', 'c']);
    },
  );

  it("isn't asked to enter a folder named like the pattern if it doesn't support SIZE", async () => {
    const reply = (verb: string) => (verb === 'SIZE' ? '502 not known' : undefined);
    expect(rowsOf(await read({ reply }, { path: '**/*.csv' }))).toEqual(['a', 'b', 'c']);
    expect(server!.commands.filter((line) => line.includes('*'))).toEqual([]);
  });

  it.each(['"QGPL" is the library', `"'USER1.'" is it`, '"C:\\FTP" is it'])(
    'whose home folder is %s never receives a local path',
    async (home) => {
      const reply = (verb: string) => (verb === 'PWD' ? `257 ${home}` : undefined);
      await expect(read({ reply })).rejects.toMatchObject({ code: 'FTP_HOME', family: 'config' });
      expect(server!.commands.join('\n')).not.toContain(process.cwd());
      expect(rowsOf(await read({ reply }, {}, { source: { folder: '/' } }))).toEqual(['a', 'b', 'c']);
      expect(rowsOf(await read({ reply }, { path: '/in/*.csv' }))).toEqual(['a', 'b', 'c']);
    },
  );

  it.each(['0.0.0.0', '192.168.7.7'])(
    'is reached at its own address even if it announces %s for data connections',
    async (pasvAddress) => {
      const reply = (verb: string) => (verb === 'EPSV' ? '500 not known' : undefined);
      expect(rowsOf(await read({ reply, pasvAddress }))).toEqual(['a', 'b', 'c']);
    },
  );

  it("can have doubled quotes in the reply with the home folder's name", async () => {
    const reply = (verb: string) => (verb === 'PWD' ? '257 "/our ""in""" is it' : undefined);
    const files = new Map([['/our "in"/a.csv', 'x\na\n']]);
    expect(rowsOf(await read({ files, reply }, { path: '*.csv' }))).toEqual(['a']);
  });

  it("can have marker files that match the pattern, which aren't data", async () => {
    const files = new Map([...three(), ['/in/done', 'x\ndone\n']]);
    expect(rowsOf(await read({ files }, { path: 'in/*', format: 'csv', marker: 'done' }))).toEqual(['a', 'b', 'c']);
  });

  it('can have a file whose name is the pattern, which is read instead of matching files', async () => {
    const files = new Map([
      ['/in/a[1].csv', 'x\nexact\n'],
      ['/in/a1.csv', 'x\nmatch\n'],
    ]);
    expect(rowsOf(await read({ files }, { path: 'in/a[1].csv' }))).toEqual(['exact']);
  });

  it('can have its marker files in another folder', async () => {
    const files = new Map([...three(), ['/in/done/a.csv', ''], ['/in/done/b.csv', '']]);
    expect(rowsOf(await read({ files }, { marker: 'done/{name}' }))).toEqual(['a', 'b']);
  });
});

it.each([
  ['PASS', '530 Login incorrect.', true, 'FTP_LOGIN_REFUSED'],
  ['PASS', '530 Too many connections from your address.', false, 'FTP_BUSY'],
  ['PASS', '530 Maximum login count reached.', false, 'FTP_BUSY'],
  ['PASS', '530 The server is busy.', false, 'FTP_BUSY'],
  ['USER', '530 This server is private.', false, 'FTP_LOGIN_REFUSED'],
])('after %s, the reply "%s" means a refused login: %s', async (refused, answer, isLoginRefused, code) => {
  const script = await openFtpScript({ files: three(), reply: (verb) => (verb === refused ? answer : undefined) });
  server = script;
  const asked = ftp.check(ftpContext({ source: script.source, query: { path: '*' } }, folder()));
  await expect(asked).rejects.toMatchObject({ code, isLoginRefused });
  expect(script.commands.filter((command) => command.startsWith('PASS'))).toHaveLength(refused === 'PASS' ? 1 : 0);
});
