export interface LogInAttemptOptions {
  /** Set if the attempt is only a step before the actual login, such as an SSH tunnel. */
  readonly isPart?: boolean;
  /**
   * Set for a request with credentials. Only a run's first such request may wait for other runs' requests, and only
   * briefly, because responses may take long.
   */
  readonly isRequest?: boolean;
  /** Set for a request without credentials. It doesn't wait for other requests. */
  readonly isAnonymous?: boolean;
  /**
   * Called after a refusal if the secret in the options has changed but the attempt contains the old one. Throw an
   * error that makes the caller build a new attempt. If absent, the attempt is simply repeated, because it reads the
   * options each time.
   */
  readonly onRenewed?: (() => never) | undefined;
}

/**
 * One login attempt. Resolves if it succeeded. A thrown `Problem` shows whether the login was refused; any other error
 * says nothing about the login.
 */
export type LogIn = <T>(attempt: () => Promise<T>, options?: LogInAttemptOptions) => Promise<T>;

/** A source's account, and everything that its login depends on. */
export interface SourceAccount {
  /** The server as shown in messages: `db:5432`. */
  readonly place: string;
  readonly user?: string | undefined;
  /** The login's secrets and options; a different value means a different login. */
  readonly secret: unknown;
  /** Files with keys and certificates; paths are relative to the config's folder. */
  readonly files?: readonly (string | undefined)[];
}

/** Makes a login attempt through the runner's `logIn`, or directly if there's none. */
export function logInBy<T>(
  { logIn }: { readonly logIn?: LogIn | undefined },
  attempt: () => Promise<T>,
  options?: LogInAttemptOptions,
): Promise<T> {
  return logIn === undefined ? attempt() : logIn(attempt, options);
}
