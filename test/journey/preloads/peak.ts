import { writeFileSync } from 'node:fs';

/** Writes the peak resident set size of this process, in megabytes, to the file named by PEAK_FILE. */
process.on('exit', () => {
  const file = process.env.PEAK_FILE;
  if (file !== undefined) writeFileSync(file, String(process.resourceUsage().maxRSS / 1024));
});
