/** An entry of a folder on the server. */
export interface DirectoryEntry {
  readonly name: string;
  /** `other` is a device, pipe or socket; `unknown`: the listing doesn't say. */
  readonly kind: 'file' | 'folder' | 'link' | 'other' | 'unknown';
  readonly size?: number;
  /** Milliseconds since 1970; absent if the listing isn't reliable. */
  readonly modified?: number;
  /** Target of a symbolic link, if the listing has it. */
  readonly target?: string;
}

/** A regular file on the server at one moment. */
export interface FileFacts {
  /** Absent if the server doesn't report it; the file is then read to its end. */
  readonly size?: number;
  /** Milliseconds since 1970, with the server's precision; absent if it isn't reported. */
  readonly modified?: number;
}

/** Not a regular file, or not accessible, with the server's message. */
export interface Absent {
  readonly absent: string;
  /** True if it's certain that the path, or the target of the link, doesn't exist. */
  readonly isMissing?: boolean;
}

/**
 * One login on a server. Paths are absolute, with `/`. Every error is a Problem; after those for which `isAway` is
 * true, another login may resume.
 */
export interface Session {
  /** The folder after login. */
  readonly home: string;
  list(folder: string): Promise<DirectoryEntry[]>;
  stat(path: string): Promise<FileFacts | Absent>;
  isFolder(path: string): Promise<boolean>;
  /** The raw target of a symbolic link; undefined if it isn't a link, or if the server doesn't report it. */
  linkTarget(path: string, entry: DirectoryEntry): Promise<string | undefined>;
  /** The bytes of a file from an offset on. `size` is the size of the whole file, as reported by `stat`. */
  read(path: string, range: ReadRange): AsyncIterable<Uint8Array>;
  /** Closes the connection immediately; pending calls fail. */
  close(): void;
}

export interface ReadRange {
  readonly from: number;
  readonly size: number | undefined;
}

/** Logs in; called again after a lost connection. If the signal is aborted, it closes the connection and fails. */
export type Connect = (signal: AbortSignal) => Promise<Session>;
