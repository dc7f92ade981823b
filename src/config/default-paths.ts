/** Config path if neither `--config` nor SLUICE_CONFIG is set. */
export const defaultConfig = 'sluice.yaml';

/** The config path for a command without `--config`. */
export function usualConfig(env: Readonly<Record<string, string | undefined>>): string {
  return env.SLUICE_CONFIG ?? defaultConfig;
}

/** The state folder, relative to the config, if the config doesn't set `state`. */
export const defaultStateFolder = './sluice-state';
