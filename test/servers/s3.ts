import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { PayloadsBucket } from '../../src/state/engine/state-database.ts';
import { goProgram, hasGo } from './go.ts';
import { launch, ServerFolder, untilAnswers } from './server.ts';

/** Versity's S3 gateway. It verifies signatures and hashes, and stores objects as files. */
const module = 'github.com/versity/versitygw/cmd/versitygw';
const version = 'v1.8.0';
const accessKeyId = 'sluice-test';
const secretAccessKey = 'bucket-test-secret';

export const hasS3 = hasGo;

/** A private object store with one empty bucket. */
export interface S3Server {
  readonly port: number;
  readonly bucket: PayloadsBucket;
  /** The folder with the bucket's objects, as files. */
  readonly objects: string;
  stop(): Promise<void>;
  /** Ends the server, and keeps its data. */
  pause(): Promise<void>;
  /** Starts the server again on the same port. */
  resume(): Promise<void>;
}

/** Starts an object store. The first call compiles it, which takes minutes. */
export async function startS3(): Promise<S3Server> {
  const program = await goProgram('versitygw', module, version);
  const folder = await ServerFolder.make('s3');
  const objects = join(folder.path, 'data', 'sluice-bucket');
  const sidecar = join(folder.path, 'attributes');
  for (const path of [objects, sidecar]) await mkdir(path, { recursive: true });
  const start = (port: number) =>
    folder.start(
      program,
      [
        ...['--access', accessKeyId, '--secret', secretAccessKey, '--port', `127.0.0.1:${port}`, '--quiet'],
        ...['posix', '--sidecar', sidecar, join(folder.path, 'data')],
      ],
      { as: 'us' },
    );
  const { port, server: first } = await launch({ start, answers });
  let server = first;
  return {
    port,
    objects,
    bucket: {
      bucket: 'sluice-bucket',
      prefix: 'test/',
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      isPathStyle: true,
      key: { accessKeyId, secretAccessKey },
    },
    stop: () => server.stop(),
    pause: () => server.stop({ keepFolder: true }),
    async resume() {
      server = await start(port);
      const failure = await untilAnswers(server, () => answers(port));
      if (failure !== undefined) throw new Error(`the server did not start again: ${String(failure)}`);
    },
  };
}

function answers(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
