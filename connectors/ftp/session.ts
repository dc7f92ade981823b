/** What a folder of the server holds. */
export interface Entry {
  readonly name: string;
  /** `unknown` is what must be looked at, such as a symbolic link. */
  readonly kind: 'file' | 'folder' | 'unknown';
  readonly size?: number;
  /** Milliseconds since 1970; absent where the listing does not tell it reliably. */
  readonly modified?: number;
}

/** A plain file as it stands on the server at one moment. */
export interface Facts {
  readonly size: number;
  /** Milliseconds since 1970, as exact as the server tells it; absent where it does not tell. */
  readonly modified?: number;
}

/**
 * One login on a server. Paths are absolute, with `/`. Every failure is a Problem; `isAway`
 * tells those after which another login may go on where this one was.
 */
export interface Session {
  /** The folder after login. */
  readonly home: string;
  list(folder: string): Promise<Entry[]>;
  /** Undefined where no plain file of that path is there. */
  stat(path: string): Promise<Facts | undefined>;
  isFolder(path: string): Promise<boolean>;
  /** The bytes of a file from an offset on. `size` is how many the whole file has by what `stat` told. */
  read(path: string, range: { readonly from: number; readonly size: number }): AsyncIterable<Uint8Array>;
  /** Ends the connection at once; whatever is under way fails. */
  close(): void;
}

/** Logs in; called again whenever a connection was lost. */
export type Connect = () => Promise<Session>;
