/** Path of the config if neither `--config` nor SLUICE_CONFIG says otherwise. */
export const defaultConfig = 'sluice.yaml';

/** Path of the config for a command without `--config`. */
export function usualConfig(env: Readonly<Record<string, string | undefined>>): string {
  return env.SLUICE_CONFIG ?? defaultConfig;
}

/** The state folder, relative to the config, if the config has no `state`. */
export const defaultStateFolder = './sluice-state';
