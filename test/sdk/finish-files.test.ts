import { expect, it } from 'vitest';
import file from '../../connectors/file/index.ts';
import { Problem } from '../../src/lib/problem.ts';
import { type FileFinisher, finishFilesBy } from '../../src/sdk/records/after-delivery.ts';
import { filesReadText, type PendingFile } from '../../src/sdk/records/files-read.ts';
import { contextOf } from '../connectors/harness.ts';

const pending: PendingFile[] = Array.from({ length: 30 }, (_, i) => ({
  ...{ path: `/in/${i}.csv`, modified: 0, size: 1, readAt: 0 },
}));
const allPending = filesReadText({ known: new Set(['x'.repeat(11)]), pending })!;

/** Deletes the pending files. `remove` gets the number of the call. */
async function finish(
  remove: (call: number) => Promise<boolean>,
  { watermark = allPending, ...more }: Partial<FileFinisher> & { readonly watermark?: string } = {},
) {
  let calls = 0;
  const finisher: FileFinisher = {
    folder: '/in',
    look: async () => ({ modified: 0, size: 1 }),
    resume: async () => false,
    move: async () => false,
    remove: () => remove(++calls),
    removeMarker: async () => false,
    close: () => undefined,
    ...more,
  };
  const { afterDelivery } = finishFilesBy(
    async () => finisher,
    () => ({ place: '', pattern: '' }),
  );
  const query = { path: '*.csv', files: 'changed', after_delivery: 'delete' };
  const { query: values, ...context } = contextOf(file, { source: {}, query, folder: '/in' });
  const result = await afterDelivery({ ...context, query: values, watermark, isDelivered: true });
  const left = (JSON.parse(result.watermark) as { pending?: PendingFile[] }).pending ?? [];
  return { ...result, calls, left };
}

it('reports that a marker was deleted which may be the one of a new file', async () => {
  const marked = { ...pending[0]!, marker: '/in/0.csv.done' };
  let looks = 0;
  const { problem, left, actions } = await finish(async () => true, {
    watermark: filesReadText({ known: new Set(['x'.repeat(11)]), pending: [marked] })!,
    // A partner replaces the file, and its marker, after the first look.
    look: async () => ({ modified: 0, size: ++looks === 1 ? 1 : 2 }),
    removeMarker: async () => true,
  });
  expect(problem).toMatchObject({ code: 'FILES_REPLACED', next: expect.stringContaining('create the marker again') });
  expect({ actions, left: left.length }).toEqual({ actions: 0, left: 1 });
});

const denied = () => Promise.reject(Object.assign(new Error('denied'), { code: 'EACCES', syscall: 'unlink' }));

it('stops after ten files that cannot be deleted, and keeps all others', async () => {
  const { calls, actions, left, problem } = await finish(denied);
  expect({ calls, actions }).toEqual({ calls: 10, actions: 0 });
  expect(left).toHaveLength(30);
  expect(left.every(({ isDelivered }) => isDelivered)).toBe(true);
  expect(problem).toMatchObject({ code: 'FILES_NOT_DELETED', seen: 'EACCES' });
});

it('goes on if only some files cannot be deleted, and reports the same problem for any number of them', async () => {
  const { calls, actions, left, problem } = await finish((call) => (call % 2 === 0 ? denied() : Promise.resolve(true)));
  expect({ calls, actions }).toEqual({ calls: 30, actions: 15 });
  expect(left).toHaveLength(15);
  expect(problem?.message).toBe('cannot delete /in/1.csv');
});

it('stops and reports a lost connection, even after another problem', async () => {
  const lost = new Problem({ code: 'FTP_LOST', family: 'try_later', message: 'lost' });
  const { calls, problem } = await finish((call) => (call === 1 ? denied() : Promise.reject(lost)));
  expect({ calls, code: problem?.code }).toEqual({ calls: 2, code: 'FTP_LOST' });
});
