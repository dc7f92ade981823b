import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { runProgram } from '../../lib/run-program.ts';
import { exactFields } from '../exact-fields.ts';
import { secretProblem } from '../problems.ts';
import { defineSecretProvider } from '../provider.ts';

/** Files encrypted with sops. To decrypt a file, runs the sops program, which also finds the keys. */
export default defineSecretProvider({
  title: 'sops',
  form: 'FILE#PATH',
  about: "a value in a file that `sops` decrypts; the path is relative to the config's folder",
  options: {},
  open(_, { cwd, env, signal }) {
    return async (file) => {
      await access(resolve(cwd, file)).catch((cause: NodeJS.ErrnoException) => {
        throw secretProblem('CONFIG_SECRET_MISSING', {
          message: `The encrypted file ${file} cannot be read`,
          seen: cause.code ?? 'unreadable',
          next: `check the path, which is relative to the config's folder, ${cwd}`,
          cause,
        });
      });
      // sops would interpret a name that starts with a dash as a flag.
      const path = resolve(cwd, file);
      const ran = await runProgram('sops', ['--decrypt', '--output-type', 'json', path], { cwd, env, signal });
      if (!ran.ok) {
        throw secretProblem(ran.isMissing ? 'CONFIG_SECRET_SETTINGS' : 'CONFIG_SECRET_DENIED', {
          message: ran.isMissing ? ran.reason : `sops could not decrypt ${file}`,
          ...(ran.isMissing ? {} : { seen: ran.reason }),
          next: ran.isMissing
            ? 'install sops, and add its folder to PATH'
            : `check this user's keys with: sops --decrypt ${file}`,
        });
      }
      const fields = exactFields(ran.output);
      if (fields !== undefined) return fields;
      throw secretProblem('CONFIG_SECRET_MISSING', {
        message: `The encrypted file ${file} is not a map`,
        seen: `${ran.output.length} characters`,
        next: 'give each value in the file a name',
      });
    };
  },
});
