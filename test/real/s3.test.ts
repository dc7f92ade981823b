import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { wholePayload } from '../../src/delivery/whole-payload.ts';
import { filesBelow } from '../../src/lib/files-below.ts';
import { backUp } from '../../src/state/backup/backup.ts';
import { restore } from '../../src/state/backup/restore.ts';
import { testStorage } from '../../src/state/blobs/test-storage.ts';
import { claimPayloads } from '../../src/state/claim-payloads.ts';
import { forTest } from '../journey/process.ts';
import { describeWithServer, reportMissing } from '../servers/describe.ts';
import { openGate } from '../servers/gate.ts';
import { hasS3, type S3Server, startS3 } from '../servers/s3.ts';
import type { TestServer } from '../servers/server.ts';
import { type BlobPlace, copyOf, openTwo, owe, testBlobs } from '../state/blob-suite.ts';
import { cleanUp, newFolder, newStore } from '../state/fixtures.ts';

const title = 'files in a bucket that several machines share';
if (!hasS3()) reportMissing(title, ['Go 1.21'], 'golang');
else describeWithServer({ servers: 'PostgreSQL' }, title, describeBuckets);

function describeBuckets(server: () => TestServer): void {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await startS3();
  }, 1_800_000);
  afterAll(() => s3?.stop());
  afterEach(async () => {
    await cleanUp();
    for (const file of filesBelow(s3.objects)) rmSync(file);
  });

  const blobs = () => filesBelow(s3.objects).filter((file) => !file.endsWith('state.id'));
  const place = (): BlobPlace => ({
    options: { payloadsBucket: s3.bucket },
    damage: async (_, text) => {
      for (const file of blobs()) text === undefined ? rmSync(file) : writeFileSync(file, text);
    },
    count: async () => blobs().length,
  });
  const two = (changes: object = {}) => openTwo(server(), { payloadsBucket: { ...s3.bucket, ...changes } });

  describe('like all blobs', () => testBlobs(server, place));

  it('are tested, and the test leaves nothing behind', async () => {
    const { one } = await two();
    expect(await testStorage(one.blobs.backend!)).toBeGreaterThan(0);
    expect(blobs()).toEqual([]);
  });

  it('make the state unwritable while the server is away, and are stored when it is back', async () => {
    const { one, other } = await two();
    const { row } = await owe(one, 'rows');
    const there = { ...row, path: copyOf(row.path, one, other) };
    await s3.pause();
    const refused = (work: Promise<unknown>) =>
      expect(work).rejects.toMatchObject({ code: 'PAYLOADS_UNREACHABLE', family: 'try_later' });
    await Promise.all([refused(owe(one, 'more', 'i2')), refused(wholePayload(there, other))]);
    for (const store of [one, other]) expect(store.unwritable()).toMatchObject({ code: 'PAYLOADS_UNREACHABLE' });
    await s3.resume();
    await expect.poll(() => one.unwritable()).toBeUndefined();
    await owe(one, 'more', 'i2');
    expect(await wholePayload(there, other)).toBe('whole');
  });

  it('survive a short outage and broken transfers', async () => {
    const gate = await openGate(s3.port, 2_000_000, forTest);
    const { one, other } = await two({ endpoint: `http://127.0.0.1:${gate.port}` });
    const { row } = await owe(one, 'large '.repeat(800_000));
    const fetched = wholePayload({ ...row, path: copyOf(row.path, one, other) }, other);
    await gate.held;
    gate.cut('reset');
    expect(await fetched).toBe('whole');
    await s3.pause();
    const owing = owe(one, 'more', 'i2');
    await s3.resume();
    await owing;
  });

  it('are moved by a backup and a restore, which leaves nothing behind if it fails', async () => {
    const { one, database, query } = await two();
    await owe(one, 'rows');
    const backup = join(newFolder(), 'backup');
    await backUp({ state: newFolder(), stateDatabase: database }, backup, Date.now());
    const schema = `${database.schema}_moved`;
    const there = { state: newFolder(), stateDatabase: { ...database, schema } };
    const restored = () => restore({ from: backup, to: there, replace: false, moved: true });
    await query(`create schema ${schema}`);
    await query(`create table ${schema}.outbox (id int)`);
    await expect(restored()).rejects.toThrow('outbox');
    expect(blobs()).toHaveLength(1);
    await query(`drop table ${schema}.outbox`);
    await restored();
    expect(blobs()).toHaveLength(2);
    const store = await newStore({ folder: newFolder(), database: there.stateDatabase });
    const [row] = await store.outbox.inState('owed');
    expect(await wholePayload(row!, store)).toBe('whole');
  });

  it.each([
    ['a wrong secret', { key: { accessKeyId: 'sluice-test', secretAccessKey: 'wrong-secret' } }],
    ['an unknown key', { key: { accessKeyId: 'unknown', secretAccessKey: 'bucket-test-secret' } }],
    ['a bucket that does not exist', { bucket: 'no-such-bucket' }],
  ])('report %s', async (_, changes) => {
    await expect(two(changes)).rejects.toMatchObject({ code: 'PAYLOADS_REFUSED', family: 'config' });
  });

  it('are not considered lost if the bucket is not the one that has them', async () => {
    const { one, other, database } = await two();
    const { row } = await owe(one, 'rows');
    const payloadsBucket = { ...s3.bucket, prefix: 'elsewhere/' };
    const wrong = await newStore({ folder: newFolder(), database: { ...database, payloadsBucket } });
    await expect(claimPayloads(wrong)).rejects.toMatchObject({ code: 'PAYLOADS_ELSEWHERE' });
    const there = { ...row, path: copyOf(row.path, one, wrong) };
    await expect(wholePayload(there, wrong)).rejects.toMatchObject({ code: 'PAYLOADS_REFUSED' });
    expect(await wholePayload({ ...row, path: copyOf(row.path, one, other) }, other)).toBe('whole');
  });
}
