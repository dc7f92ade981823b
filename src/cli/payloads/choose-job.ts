import type { Config, Job } from '../../config/config.ts';
import { chooseJobs } from '../config-file.ts';

/** The job with this name. Throws `CLI_UNKNOWN_JOB` if the config doesn't have the job or can't use it. */
export function chooseJob(config: Config, name: string): Job {
  return chooseJobs({ config, problems: [], warnings: [], refused: new Map() }, [name]).jobs[0]!;
}
