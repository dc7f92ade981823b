import type { Config, Job } from '../../config/config.ts';
import { chooseJobs } from '../config-file.ts';

/** The job of that name. Throws `CLI_UNKNOWN_JOB` where the config has none, or cannot use it. */
export function chooseJob(config: Config, name: string): Job {
  return chooseJobs({ config, problems: [], warnings: [], refused: new Map() }, [name]).jobs[0]!;
}
