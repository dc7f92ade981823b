/** Room on a disk, asked for before it is taken. */
export interface DiskSpace {
  /**
   * So many bytes more are about to be written. Await the promise, where there is one, before they are: it rejects with a
   * Problem where there is no room for them.
   */
  claim(bytes: number): Promise<void> | undefined;
}
