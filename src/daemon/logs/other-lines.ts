import type { Level } from '../../lib/log.ts';

/** A log line that isn't an event. */
export interface OtherLine {
  readonly line: string;
  readonly level: Exclude<Level, 'silent'>;
  readonly facts: readonly string[];
  readonly says: string;
}

/** All of them; a test compares the list with the sources. */
export const otherLines: readonly OtherLine[] = [
  { line: 'monitor.listening', level: 'info', facts: ['url'], says: 'The monitor is listening.' },
  {
    line: 'daemon.waiting',
    level: 'warn',
    facts: ['for', 'state'],
    says: 'Another daemon uses the state folder; this one is on standby.',
  },
  {
    line: 'process.blocked',
    level: 'error',
    facts: ['seconds', 'runs', 'stack'],
    says: 'The event loop was blocked; the process ends. The next start reads these sources last.',
  },
  { line: 'daemon.stopped', level: 'info', facts: [], says: 'The daemon stopped; the last line.' },
  {
    line: 'config.fault',
    level: 'error',
    facts: ['code', 'place', 'fault'],
    says: 'A config error. At startup, the affected jobs are left out; at a reload, the config is refused.',
  },
  {
    line: 'config.remark',
    level: 'warn',
    facts: ['code', 'place', 'remark'],
    says: 'Advice about the config, which stops nothing; only at startup.',
  },
  {
    line: 'the state folder cannot be changed while the daemon runs: restart it',
    level: 'error',
    facts: ['now', 'asked'],
    says: 'The reload was refused.',
  },
  { line: 'reload failed', level: 'error', facts: ['error'], says: 'The previous config stays active.' },
  {
    line: 'failed to reload the config',
    level: 'error',
    facts: ['error'],
    says: 'With `on_start_error: retry`; it will be retried.',
  },
  {
    line: 'a run was interrupted by the end of its process',
    level: 'warn',
    facts: ['job', 'run'],
    says: 'Found at startup; the run starts again, once.',
  },
  {
    line: 'the report that an earlier attempt ordered is gone: ordering another one',
    level: 'warn',
    facts: ['because'],
    says: 'The vendor no longer has the report, or can no longer produce it.',
  },
  {
    line: 'a payload is damaged and was put aside',
    level: 'error',
    facts: ['job', 'path'],
    says: 'Found at startup; its file is missing or changed.',
  },
  {
    line: 'swept files that nothing wanted',
    level: 'info',
    facts: ['files'],
    says: 'Unused files of a killed process were deleted.',
  },
  {
    line: 'a clock that was set could not be written down',
    level: 'error',
    facts: ['error'],
    says: 'With `clock.set`: there will be no alert.',
  },
  {
    line: 'old runs could not be forgotten',
    level: 'error',
    facts: ['error'],
    says: 'The history grows in the meantime; it will be retried.',
  },
  { line: 'the timer met a fault', level: 'error', facts: ['error'], says: 'The schedules continue.' },
  {
    line: 'a firing met a fault',
    level: 'error',
    facts: ['job', 'at', 'error'],
    says: 'The job continues with its next firing.',
  },
  {
    line: 'a former config could not be let go',
    level: 'error',
    facts: ['error'],
    says: 'After a reload; the new config is active.',
  },
  {
    line: 'the end of a run was not written down',
    level: 'error',
    facts: ['error'],
    says: 'The history is incomplete.',
  },
  {
    line: 'a skipped firing could not be written down',
    level: 'error',
    facts: ['job', 'error'],
    says: 'The history is incomplete.',
  },
  {
    line: 'alert check failed',
    level: 'error',
    facts: ['error'],
    says: 'It will be retried within a minute.',
  },
  { line: 'alerts could not be sent', level: 'error', facts: ['error'], says: 'They will be retried.' },
  { line: 'the look at sources met a fault', level: 'error', facts: ['error'], says: 'It will be retried.' },
  { line: 'the check of logins on hold failed', level: 'error', facts: ['error'], says: 'It will be retried.' },
  { line: 'the check of the disk failed', level: 'error', facts: ['error'], says: 'It will be retried.' },
  {
    line: 'a look at a source met a fault',
    level: 'error',
    facts: ['source', 'error'],
    says: 'The check is ignored.',
  },
  {
    line: 'systemd could not be told',
    level: 'warn',
    facts: ['words', 'error'],
    says: 'The program `systemd-notify` is missing or fails.',
  },
  {
    line: 'traces could not be sent',
    level: 'warn',
    facts: ['message'],
    says: 'The collector does not accept them; nothing waits for it.',
  },
  {
    line: 'the total changed while the pages were read: reading them a second time',
    level: 'info',
    facts: ['job', 'run'],
    says: 'The data of a REST API changed during the read.',
  },
  {
    line: 'traces are asked for, but nothing here can send them that way: load a kit with NODE_OPTIONS="--import …"',
    level: 'warn',
    facts: [],
    says: 'For protocols other than OTLP over HTTP.',
  },
  {
    line: 'The source did not close in time and was left behind',
    level: 'warn',
    facts: ['job', 'run', 'source'],
    says: 'The run ends anyway.',
  },
  {
    line: 'The source did not close cleanly',
    level: 'warn',
    facts: ['job', 'run', 'source', 'error'],
    says: 'The run ends anyway.',
  },
  {
    line: 'The connection was lost; the read goes on behind the last row',
    level: 'warn',
    facts: ['job', 'run', 'rows', 'because', 'pause_ms'],
    says: 'Connector `db` with `chunks`.',
  },
  { line: 'the database says', level: 'debug', facts: ['job', 'run', 'notice'], says: 'A notice of PostgreSQL.' },
  {
    line: 'the server numbers its packets out of order',
    level: 'warn',
    facts: ['job', 'run', 'expected', 'seen'],
    says: 'A MySQL or MariaDB server, or a proxy, counts packets differently. Logged once per connection.',
  },
  {
    line: 'files found',
    level: 'debug',
    facts: ['job', 'run', 'files', 'found', 'chosen', 'pending'],
    says: 'Connectors `file` and `ftp`.',
  },
  {
    line: 'a transfer broke and goes on',
    level: 'warn',
    facts: ['job', 'run', 'file', 'at', 'because'],
    says: 'Connector `ftp`; continues from this byte.',
  },
  {
    line: 'symbolic links are left out',
    level: 'info',
    facts: ['job', 'run', 'dangling', 'to_folders'],
    says: 'Connector `ftp`: number of broken links, and of links to folders, which are not followed.',
  },
  {
    line: 'retrying after a pause',
    level: 'warn',
    facts: ['job', 'run', 'because', 'pauseMs'],
    says: 'An API was busy or did not answer.',
  },
  {
    line: 'page read',
    level: 'debug',
    facts: ['job', 'run', 'page', 'records', 'bytes'],
    says: 'Connector `simple_rest`.',
  },
  {
    line: 'nothing to be had for this part, going on',
    level: 'warn',
    facts: ['job', 'run', 'because'],
    says: 'A third-party service refuses one of several partitions.',
  },
  {
    line: 'the service has forgotten how far we were: reading everything again',
    level: 'warn',
    facts: ['job', 'run', 'because'],
    says: 'A third-party service.',
  },
  {
    line: 'rate limit nearly used up: requests are delayed',
    level: 'warn',
    facts: ['job', 'run', 'at', 'said', 'pauseMs'],
    says: 'A third-party service; logged once per run.',
  },
];
