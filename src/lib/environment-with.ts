/**
 * The named variables of this process's environment, if they're set. Other variables are left out, because they may be
 * secret.
 */
export function environmentWith(...names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])));
}
