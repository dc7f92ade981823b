import ssh2 from 'ssh2';

/** A key pair in OpenSSH's format. */
export type SshKey = ReturnType<typeof ssh2.utils.generateKeyPairSync>;

/**
 * A new ed25519 key. ssh2 drops a leading zero byte of the public key, so one in 256 keys that it generates can't be
 * read. Such keys are skipped.
 */
export function newSshKey(): SshKey {
  for (;;) {
    const key = ssh2.utils.generateKeyPairSync('ed25519');
    if (!(ssh2.utils.parseKey(key.private) instanceof Error)) return key;
  }
}
