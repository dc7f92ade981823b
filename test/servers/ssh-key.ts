import ssh2 from 'ssh2';

/** A pair of keys in OpenSSH's form. */
export type SshKey = ReturnType<typeof ssh2.utils.generateKeyPairSync>;

/**
 * A new ed25519 key. ssh2 drops a leading zero byte of the public key, so one in 256 that it makes cannot be read; such a one is
 * made again.
 */
export function newSshKey(): SshKey {
  for (;;) {
    const key = ssh2.utils.generateKeyPairSync('ed25519');
    if (!(ssh2.utils.parseKey(key.private) instanceof Error)) return key;
  }
}
