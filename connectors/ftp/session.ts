/** An entry of a folder on the server. */
export interface DirectoryEntry {
  readonly name: string;
  /** `other` is a device, pipe or socket; `unknown` is what the listing does not tell. */
  readonly kind: 'file' | 'folder' | 'link' | 'other' | 'unknown';
  readonly size?: number;
  /** Milliseconds since 1970; absent where the listing does not tell it reliably. */
  readonly modified?: number;
  /** Where a symbolic link leads, if the listing tells. */
  readonly target?: string;
}

/** A plain file on the server at one moment. */
export interface FileFacts {
  /** Absent if the server does not tell it; the file is then read to its end. */
  readonly size?: number;
  /** Milliseconds since 1970, as exact as the server tells it; absent if it does not tell. */
  readonly modified?: number;
}

/** Not a regular file, or not accessible, with the server's message. */
export interface Absent {
  readonly absent: string;
  /** True if it is certain that nothing is there, or at the end of the link. */
  readonly isMissing?: boolean;
}

/**
 * One login on a server. Paths are absolute, with `/`. Every failure is a Problem; `isAway`
 * tells those after which another login may go on where this one was.
 */
export interface Session {
  /** The folder after login. */
  readonly home: string;
  list(folder: string): Promise<DirectoryEntry[]>;
  stat(path: string): Promise<FileFacts | Absent>;
  isFolder(path: string): Promise<boolean>;
  /** Where the symbolic link leads, as it is written there; undefined if it is none, or if the server does not tell. */
  linkTarget(path: string, entry: DirectoryEntry): Promise<string | undefined>;
  /** The bytes of a file from an offset on. `size` is how many the whole file has by what `stat` told. */
  read(path: string, range: ReadRange): AsyncIterable<Uint8Array>;
  /** Ends the connection at once; whatever is under way fails. */
  close(): void;
}

export interface ReadRange {
  readonly from: number;
  readonly size: number | undefined;
}

/** Logs in; called again whenever a connection was lost. When the signal is aborted, it ends the connection and fails. */
export type Connect = (signal: AbortSignal) => Promise<Session>;
