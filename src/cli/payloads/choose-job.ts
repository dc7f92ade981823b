import type { Config, Job } from '../../config/config.ts';
import { chooseJobs } from '../config-file.ts';

/**
 * Returns the job with this name. Throws `CLI_UNKNOWN_JOB` if the config doesn't define the job or the job is invalid.
 */
export function chooseJob(config: Config, name: string): Job {
  return chooseJobs({ config, problems: [], warnings: [], refused: new Map() }, [name]).jobs[0]!;
}
