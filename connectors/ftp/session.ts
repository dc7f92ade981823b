/** An entry in a folder on the server. */
export interface DirectoryEntry {
  readonly name: string;
  /** `other` is a device, pipe or socket; `unknown` means that the listing doesn't say. */
  readonly kind: 'file' | 'folder' | 'link' | 'other' | 'unknown';
  readonly size?: number;
  /** Milliseconds since 1970; absent if the listing's time isn't reliable. */
  readonly modified?: number;
  /** The target of a symbolic link, if the listing shows it. */
  readonly target?: string;
}

/** The state of a regular file on the server at a point in time. */
export interface FileFacts {
  /** Absent if the server doesn't report the size. The file is then read until its end. */
  readonly size?: number;
  /** Milliseconds since 1970, with the server's precision; absent if the server doesn't report it. */
  readonly modified?: number;
}

/** The path is not a regular file, or not accessible; includes the server's message. */
export interface Absent {
  readonly absent: string;
  /** True if the path or the link's target certainly doesn't exist. */
  readonly isMissing?: boolean;
}

/**
 * A logged-in session on a server. Paths are absolute and use `/`. Every error is a Problem. If `isAway` is true for an
 * error, the caller may log in again and resume.
 */
export interface Session {
  /** The folder after login. */
  readonly home: string;
  list(folder: string): Promise<DirectoryEntry[]>;
  stat(path: string): Promise<FileFacts | Absent>;
  isFolder(path: string): Promise<boolean>;
  /** The raw target of a symbolic link; undefined if it isn't a link, or if the server doesn't report the target. */
  linkTarget(path: string, entry: DirectoryEntry): Promise<string | undefined>;
  /** A file's bytes from an offset onward. `size` is the size of the whole file, as reported by `stat`. */
  read(path: string, range: ReadRange): AsyncIterable<Uint8Array>;
  /** Closes the connection immediately; pending calls fail. */
  close(): void;
}

export interface ReadRange {
  readonly from: number;
  readonly size: number | undefined;
}

/** Logs in; called again after a lost connection. If the signal is aborted, closes the connection and fails. */
export type Connect = (signal: AbortSignal) => Promise<Session>;
