import type { ReadParameter } from './parameter-readers.ts';

/** A provider's API. */
interface ProviderApi {
  /** What the host in a URL is. */
  readonly urlHost: 'project' | 'host';
  /** The API's usual host, if it's the same for all customers. */
  readonly host?: string;
  /** The end of all hosts, which users may leave out. */
  readonly domain?: string;
  /** A token can be the password. If there's none, the login is OAuth, or a user with a private key. */
  readonly login: 'OAuth or token' | 'token or key';
}

/** What is known of a kind of database before its driver is loaded. */
export interface DatabaseEngine {
  /** Its name in texts. */
  readonly title: string;
  /** The schemes of its URLs; the first one is the usual one. */
  readonly schemes: readonly string[];
  /** The default port; 0 for a file. */
  readonly port: number;
  /** Whether its databases are local files. */
  readonly isFile?: true;
  /** The default port with TLS, if it's another one. */
  readonly tlsPort?: number;
  /** Present if Sluice asks a provider's HTTP API, which is encrypted by default. */
  readonly api?: ProviderApi;
  /** Whether a source can have only one server. */
  readonly hasOneHost?: true;
  /** The parameters of its URLs. */
  readonly parameters: Readonly<Record<string, ReadParameter>>;
  /**
   * Settings of a session with which values could change, rows could be missing, or writes could be possible. Absent if
   * the option `session` doesn't apply.
   */
  readonly reservedSettings?: RegExp;
  /** The name of a table with as many parts as it can have, such as schema and table. */
  readonly exampleTable: string;
  /** Whether it may have text whose encoding it doesn't know. */
  readonly hasRawTexts?: true;
}
