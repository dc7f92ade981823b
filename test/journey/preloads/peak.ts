import { writeFileSync } from 'node:fs';

/** Writes this process's peak resident set size, in megabytes, to the file that PEAK_FILE names. */
process.on('exit', () => {
  const file = process.env.PEAK_FILE;
  if (file !== undefined) writeFileSync(file, String(process.resourceUsage().maxRSS / 1024));
});
