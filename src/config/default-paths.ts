/** The config path if neither `--config` nor SLUICE_CONFIG is set. */
export const defaultConfig = 'sluice.yaml';

/** Returns the config path for a command without `--config`. */
export function defaultConfigIn(env: Readonly<Record<string, string | undefined>>): string {
  return env.SLUICE_CONFIG ?? defaultConfig;
}

/** The state folder if the config doesn't set `state`. The path is relative to the config file's folder. */
export const defaultStateFolder = './sluice-state';

/** The cache folder if `state` is a URL and the config doesn't set `cache`. */
export const defaultCacheFolder = './sluice-cache';

/** Whether the value of `state` is a database's URL instead of a folder. */
export const isStateUrl = (state: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(state);
