import { Transform, type TransformCallback } from 'node:stream';
import { createZstdDecompress, type ZstdDecompress } from 'node:zlib';

/**
 * Decompresses zstd data that can have several frames (RFC 8878, 3.1). Node's own stream ends after a frame if the same
 * chunk goes on, and ignores the rest without an error. So the rest goes to a new stream of Node's.
 */
export class ZstdFrames extends Transform {
  #frame = this.#open();

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const frame = this.#frame;
    const before = frame.bytesWritten;
    frame.write(chunk, (error) => {
      const used = frame.bytesWritten - before;
      if (error || used === chunk.length) return done(error);
      this.#frame = this.#open();
      // Output of one frame must not overtake the former one's.
      whenRead(frame, () => this._transform(chunk.subarray(used), 'utf8', done));
    });
  }

  override _flush(done: TransformCallback): void {
    const frame = this.#frame;
    frame.end();
    whenRead(frame, done);
  }

  override _read(size: number): void {
    this.#frame.resume();
    super._read(size);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#frame.destroy();
    super._destroy(error, done);
  }

  #open(): ZstdDecompress {
    const frame = createZstdDecompress();
    frame.on('data', (bytes) => this.push(bytes) || frame.pause());
    return frame.on('error', (error) => this.destroy(error));
  }
}

function whenRead(frame: ZstdDecompress, done: () => void): void {
  if (frame.readableEnded) done();
  else frame.once('end', done);
}
