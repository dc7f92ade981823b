import type { Level } from '../../lib/log.ts';

/** A log line that isn't an event. */
export interface OtherLine {
  readonly line: string;
  readonly level: Exclude<Level, 'silent'>;
  readonly facts: readonly string[];
  readonly description: string;
}

/** All log lines that don't come from events. A test compares this list with the source code. */
export const otherLines: readonly OtherLine[] = [
  { line: 'monitor.listening', level: 'info', facts: ['url'], description: 'The monitor is listening.' },
  {
    line: 'sync.handed_over',
    level: 'info',
    facts: ['jobs'],
    description: 'The daemon runs these jobs for a `sluice sync`; an empty list means all enabled jobs.',
  },
  {
    line: 'sync.local',
    level: 'debug',
    facts: ['reason'],
    description: "`sluice sync` runs the jobs itself; `reason` says why it didn't hand them over to a daemon.",
  },
  {
    line: 'sync.not_accepted',
    level: 'warn',
    facts: ['error'],
    description: 'The daemon has no socket, so each `sluice sync` runs in its own process.',
  },
  {
    line: 'daemon.waiting',
    level: 'warn',
    facts: ['for', 'state'],
    description: 'Another daemon uses the state; this one is on standby.',
  },
  {
    line: 'state.waiting',
    level: 'warn',
    facts: ['code', 'message', 'seen'],
    description:
      "The state's server isn't available, or another process holds a lock; the starting process tries again for a minute.",
  },
  {
    line: 'file moved',
    level: 'info',
    facts: ['file', 'to'],
    description: 'A file was moved after its rows had been delivered (`after_delivery`).',
  },
  {
    line: 'file deleted',
    level: 'info',
    facts: ['file'],
    description: 'A file was deleted after its rows had been delivered (`after_delivery`).',
  },
  {
    line: 'process.blocked',
    level: 'error',
    facts: ['code', 'by', 'seconds', 'runs', 'stack'],
    description:
      "The event loop was blocked, so the process exits. If `by` is `source`, the next start reads the sources of these runs last. If `by` is `disk`, the cause is the state folder's disk, not a source.",
  },
  { line: 'daemon.stopped', level: 'info', facts: [], description: 'The daemon stopped. This is the last line.' },
  {
    line: 'config.error',
    level: 'error',
    facts: ['code', 'place', 'message'],
    description: 'A config error. At startup, the affected jobs are left out; at a reload, the config is refused.',
  },
  {
    line: 'config.warning',
    level: 'warn',
    facts: ['code', 'place', 'message'],
    description: 'A warning about the config; logged only at startup.',
  },
  {
    line: 'the state cannot be moved while the daemon is running; restart the daemon',
    level: 'error',
    facts: ['now', 'asked'],
    description: 'The reload was refused.',
  },
  { line: 'reload failed', level: 'error', facts: ['error'], description: 'The previous config stays active.' },
  {
    line: 'failed to reload the config',
    level: 'error',
    facts: ['error'],
    description: 'Logged only with `on_start_error: retry`. Loading the config will be retried.',
  },
  {
    line: 'a run was interrupted because its process ended',
    level: 'warn',
    facts: ['job', 'run'],
    description: 'Found at startup; the run is started again, but only once.',
  },
  {
    line: 'the report requested by an earlier attempt no longer exists; requesting another one',
    level: 'warn',
    facts: ['because'],
    description: 'The vendor no longer has the report, or can no longer produce it.',
  },
  {
    line: 'a damaged payload was moved aside',
    level: 'error',
    facts: ['job', 'path'],
    description: "Found at startup: the payload's file is missing or was changed.",
  },
  {
    line: 'deleted unused files',
    level: 'info',
    facts: ['files'],
    description: 'Unused files left by a killed process were deleted.',
  },
  {
    line: 'failed to record a clock change',
    level: 'error',
    facts: ['error'],
    description: 'Logged with `clock.set`; no alert will be sent.',
  },
  {
    line: 'failed to prune the history',
    level: 'error',
    facts: ['error'],
    description: 'Pruning will be retried; until then, the history grows.',
  },
  { line: 'the timer failed', level: 'error', facts: ['error'], description: 'The schedules continue.' },
  {
    line: 'a firing failed',
    level: 'error',
    facts: ['job', 'at', 'error'],
    description: 'The job continues with its next firing.',
  },
  {
    line: 'failed to release the previous config',
    level: 'error',
    facts: ['error'],
    description: 'Logged after a reload. The new config is already active.',
  },
  {
    line: 'failed to sweep the cache folder',
    level: 'error',
    facts: ['error'],
    description:
      "Local copies of payloads in the state's database were not removed. Nothing is lost; the next sweep tries again.",
  },
  {
    line: 'failed to record the end of a run',
    level: 'error',
    facts: ['error'],
    description: 'The history is incomplete.',
  },
  {
    line: 'failed to record a skipped firing',
    level: 'error',
    facts: ['job', 'error'],
    description: 'The history is incomplete.',
  },
  {
    line: 'alert check failed',
    level: 'error',
    facts: ['error'],
    description: 'The check will be retried within a minute.',
  },
  { line: 'failed to send alerts', level: 'error', facts: ['error'], description: 'They will be retried.' },
  { line: 'the source checks failed', level: 'error', facts: ['error'], description: 'They will be retried.' },
  {
    line: 'failed to check for waiting firings',
    level: 'error',
    facts: ['error'],
    description: 'The check will be retried.',
  },
  {
    line: 'a source check failed',
    level: 'error',
    facts: ['source', 'error'],
    description: 'The check is ignored.',
  },
  {
    line: 'failed to notify systemd',
    level: 'warn',
    facts: ['words', 'error'],
    description: 'The program `systemd-notify` is missing or failed.',
  },
  {
    line: 'failed to send traces',
    level: 'warn',
    facts: ['message'],
    description: 'The collector did not accept the traces. Runs are not affected.',
  },
  {
    line: 'the total changed while the pages were being read; reading all pages again',
    level: 'info',
    facts: ['job', 'run'],
    description: 'The data of a REST API changed while it was being read.',
  },
  {
    line: 'traces are enabled, but this protocol needs an OpenTelemetry SDK: load one with NODE_OPTIONS="--import …"',
    level: 'warn',
    facts: [],
    description: 'Logged for protocols other than OTLP over HTTP.',
  },
  {
    line: 'The source did not close in time and was abandoned',
    level: 'warn',
    facts: ['job', 'run', 'source'],
    description: 'The run ends anyway.',
  },
  {
    line: 'The source did not close cleanly',
    level: 'warn',
    facts: ['job', 'run', 'source', 'error'],
    description: 'The run ends anyway.',
  },
  {
    line: 'Failed to delete temporary files of the source',
    level: 'warn',
    facts: ['job', 'run', 'error'],
    description: "The run's result stays the same. The next start deletes the files.",
  },
  {
    line: 'The connection was lost; reading resumes after the last row',
    level: 'warn',
    facts: ['job', 'run', 'rows', 'because', 'pause_ms'],
    description: 'Connector `db` with `chunks`.',
  },
  {
    line: 'database notice',
    level: 'debug',
    facts: ['job', 'run', 'notice'],
    description: 'A notice from PostgreSQL.',
  },
  {
    line: 'database server skipped',
    level: 'info',
    facts: ['job', 'run', 'place', 'reason'],
    description: 'A server of a source with several hosts can’t be used, so the next one is tried.',
  },
  {
    line: 'the server does not know settings of the session',
    level: 'debug',
    facts: ['job', 'run', 'place', 'unknown'],
    description: 'A database that imitates PostgreSQL or MySQL is read without some settings.',
  },
  {
    line: 'the server sent packets out of order',
    level: 'warn',
    facts: ['job', 'run', 'expected', 'seen'],
    description: 'A MySQL or MariaDB server, or a proxy, numbers packets differently. Logged once per connection.',
  },
  {
    line: 'files found',
    level: 'debug',
    facts: ['job', 'run', 'files', 'found', 'chosen', 'pending'],
    description: 'Connectors `file` and `ftp`.',
  },
  {
    line: 'a transfer was interrupted and is being resumed',
    level: 'warn',
    facts: ['job', 'run', 'file', 'at', 'because'],
    description: 'Connector `ftp`: the transfer continues at byte `at`.',
  },
  {
    line: 'symbolic links were skipped',
    level: 'info',
    facts: ['job', 'run', 'dangling', 'to_folders'],
    description: 'Connector `ftp`: `dangling` broken links and `to_folders` links to folders were skipped.',
  },
  {
    line: 'retrying after a pause',
    level: 'warn',
    facts: ['job', 'run', 'page', 'parent', 'because', 'pauseMs'],
    description: 'An API was busy or did not respond. `page` and `parent`: only connector `simple_rest`.',
  },
  {
    line: 'page read',
    level: 'debug',
    facts: ['job', 'run', 'page', 'records', 'bytes'],
    description: 'Connector `simple_rest`.',
  },
  {
    line: 'continuing after the pages of an earlier attempt',
    level: 'info',
    facts: ['job', 'run', 'pages'],
    description: 'Connector `simple_rest` with `resume: true`: the earlier attempt of the run has read `pages` pages.',
  },
  {
    line: 'parents read',
    level: 'info',
    facts: ['job', 'run', 'parents', 'of'],
    description:
      'Connector `simple_rest`: the records of `parents` of all `of` parents have been read. Logged after each 100 parents.',
  },
  {
    line: 'access to this partition denied; skipping it',
    level: 'warn',
    facts: ['job', 'run', 'because'],
    description: 'A third-party service denied access to one of several partitions.',
  },
  {
    line: 'the checkpoint has expired: reading everything again',
    level: 'warn',
    facts: ['job', 'run', 'because'],
    description: 'A third-party service.',
  },
  {
    line: 'rate limit nearly used up: requests are delayed',
    level: 'warn',
    facts: ['job', 'run', 'at', 'value', 'pauseMs'],
    description: 'The limit is that of a third-party service. Logged once per run.',
  },
];
