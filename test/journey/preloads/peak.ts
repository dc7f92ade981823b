import { writeFileSync } from 'node:fs';

/** Writes the largest resident set of this process, in megabytes, to the file that PEAK_FILE names. */
process.on('exit', () => {
  const file = process.env.PEAK_FILE;
  if (file !== undefined) writeFileSync(file, String(process.resourceUsage().maxRSS / 1024));
});
