/** A disk budget: space is reserved before it's used. */
export interface DiskSpace {
  /**
   * Reserves space for `bytes` more bytes. Await the promise, if any, before writing them: it rejects with a Problem if
   * there's not enough space.
   */
  claim(bytes: number): Promise<void> | undefined;
}
