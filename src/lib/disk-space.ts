/** A disk budget: space is reserved before it's used. */
export interface DiskSpace {
  /**
   * Reserves space for `bytes` more bytes. If this returns a promise, await it before writing them: it rejects with a
   * Problem if there isn't enough space.
   */
  claim(bytes: number): Promise<void> | undefined;
}
