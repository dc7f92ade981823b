import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fetchFile } from '../../connectors/ftp/fetch-file.ts';
import { lost } from '../../connectors/ftp/problems.ts';
import type { ReconnectingSession } from '../../connectors/ftp/reconnecting-session.ts';
import type { ReadRange, Session } from '../../connectors/ftp/session.ts';
import { ownFolder } from './ftp-harness.ts';

const folder = ownFolder();

it('a download is resumed as often as necessary while bytes arrive, each time after the shortest wait', async () => {
  const content = Buffer.from(Array.from({ length: 90 }, (_, i) => `row ${i}\n`).join(''));
  const facts = { size: content.length, modified: 1 };
  const waits: number[] = [];
  /** Its connection breaks after each nine bytes that it hasn't sent before. */
  let sent = 0;
  const session = {
    stat: async () => facts,
    async *read(_path: string, { from }: ReadRange) {
      const to = sent + 9;
      yield content.subarray(from, to);
      sent = to;
      if (to < content.length) throw lost(new Error('reset'), 'the test');
    },
  } as Partial<Session> as Session;
  const line = {
    use: (work: (session: Session) => Promise<unknown>) => work(session),
    retry: async (timesLost: number) => void waits.push(timesLost),
  } as unknown as ReconnectingSession;
  const to = join(folder(), 'copy');
  const file = { path: '/a.csv', name: 'a.csv', ...facts };
  await fetchFile({ file, facts }, { line, to, alive: () => undefined, onResume: () => undefined });
  expect(await readFile(to)).toEqual(content);
  expect(waits).toEqual(Array(Math.ceil(content.length / 9) - 1).fill(1));
});
