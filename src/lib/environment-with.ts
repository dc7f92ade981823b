/** Those variables of this process's environment that are set; the others may be secret. */
export function environmentWith(...names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])));
}
