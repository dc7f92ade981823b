/** An entry in a folder on the server. */
export interface DirectoryEntry {
  readonly name: string;
  /** `other` is a device, pipe or socket. `unknown` means that the listing doesn't contain the kind. */
  readonly kind: 'file' | 'folder' | 'link' | 'other' | 'unknown';
  readonly size?: number;
  /** Milliseconds since 1970; undefined if the time in the listing isn't reliable. */
  readonly modified?: number;
  /** The target of a symbolic link, if the listing contains it. */
  readonly target?: string;
}

/** A regular file's state on the server at one point in time. */
export interface FileFacts {
  /** Size in bytes; undefined if the server doesn't report it. The file is then read until its end. */
  readonly size?: number;
  /**
   * Milliseconds since 1970, with the server's precision; undefined if the server doesn't report the modification time.
   */
  readonly modified?: number;
}

/** The path isn't a regular file, or isn't accessible. `absent` contains the server's message. */
export interface Absent {
  readonly absent: string;
  /** Whether the path or the link's target certainly doesn't exist. */
  readonly isMissing?: boolean;
}

/**
 * A logged-in session on a server. Paths are absolute and use `/`. All errors are Problems. If an error's `isAway` is
 * true, the caller may log in again and resume.
 */
export interface Session {
  /** The folder after login. */
  readonly home: string;
  list(folder: string): Promise<DirectoryEntry[]>;
  stat(path: string): Promise<FileFacts | Absent>;
  isFolder(path: string): Promise<boolean>;
  /**
   * A symbolic link's target as the server reports it; undefined if the path isn't a link or the server doesn't report
   * the target.
   */
  linkTarget(path: string, entry: DirectoryEntry): Promise<string | undefined>;
  /** A file's bytes from an offset onward. `size` is the size of the whole file as reported by `stat`. */
  read(path: string, range: ReadRange): AsyncIterable<Uint8Array>;
  /** Renames a file. FTP servers may replace an existing file. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** Closes the connection immediately. Pending calls fail. */
  close(): void;
}

export interface ReadRange {
  readonly from: number;
  readonly size: number | undefined;
}

/**
 * Logs in. Called again whenever the connection was lost. If the signal is aborted, closes the connection and fails.
 */
export type Connect = (signal: AbortSignal) => Promise<Session>;
