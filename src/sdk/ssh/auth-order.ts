import type { AuthenticationType, AuthHandlerMiddleware } from 'ssh2';

export interface AuthOrderOptions {
  readonly hasKey: boolean;
  readonly hasPassword: boolean;
  /** Called before a key or a password is tried. */
  readonly onTry: () => void;
}

/**
 * Tries the login methods in the same order as OpenSSH: asks the server what it accepts, then tries the key, then the
 * password, each only if the server still offers it. After a partial success (if the server requires both key and
 * password), it continues with the methods that the server lists next (RFC 4252, 5.1). A refused password isn't sent
 * again by another method, because servers count failures.
 */
export function authOrder({ hasKey, hasPassword, onTry }: AuthOrderOptions): AuthHandlerMiddleware {
  const left: AuthenticationType[] = [
    ...(hasKey ? (['publickey'] as const) : []),
    ...(hasPassword ? (['password', 'keyboard-interactive'] as const) : []),
  ];
  let last: AuthenticationType | undefined;
  return (offered: readonly AuthenticationType[] | null, isPartial: boolean | null) => {
    if (offered === null) return 'none';
    if (last === 'password' && isPartial !== true) drop('keyboard-interactive');
    const next = left.find((method) => offered.length === 0 || offered.includes(method));
    if (next === undefined) return false;
    drop(next);
    last = next;
    onTry();
    return next;
  };

  function drop(method: AuthenticationType): void {
    const at = left.indexOf(method);
    if (at >= 0) left.splice(at, 1);
  }
}
