import type { Script } from './machine.ts';

type Preparation = Omit<Script, 'blocks'>;

/** What a page assumes when the reader reaches a line. */
export const preparations: Readonly<Record<string, Preparation>> = {
  'docs/ci.md': { before: { 'before.yaml': 'command cp sluice.yaml before.yaml' } },
  'docs/first-hour.md': {
    before: {
      'sluice init': 'command rm sluice.yaml',
      'sluice check --connect': 'sed -i "s,http://127[0-9.:a-z/]*,$SERVICE," sluice.yaml',
      'sluice run': 'KEEP_DAEMON=1',
      'sluice status': 'command curl -sS "http://127.0.0.1:9464/?still" >monitor.html',
    },
  },
  'docs/guards.md': {
    before: {
      'sluice quarantine show': 'sluice apply --yes; sluice sync; lose_rows; sluice sync',
      'sluice quarantine discard': 'lose_rows; sluice sync',
    },
  },
  'docs/incremental.md': {
    keeps: true,
    before: { 'sluice state show': 'sluice apply --yes; sluice sync', 'sluice backfill': 'sluice sync' },
  },
  'docs/operate.md': {
    before: {
      'sluice init': 'command rm sluice.yaml',
      'export SLUICE_API_KEY': 'sed -i "s,http://127[^ ]*,$SERVICE," sluice.yaml',
      'export SLUICE_CONFIG': 'mkdir etc; command cp sluice.yaml sluice-sample.csv etc',
      'sluice health': 'daemon',
      'sluice backup /backups/before-upgrade': 'end_servers',
    },
  },
  'docs/service-control.md': {
    before: {
      '$URL/profile':
        'command curl -sS -H "kf-api-key: $KEY" $URL/profile; command curl -sS -H "kf-api-key: $KEY" $URL/profile',
    },
  },
};

/** What the examples in a command's help assume, by command name. */
export const examplePreparations: Readonly<Record<string, Preparation>> = {
  backfill: { keeps: true, before: { '--chunk 1d': 'deliver' } },
  backup: { before: { 'before-upgrade': 'deliver' } },
  config: { before: { 'before.yaml': 'command cp sluice.yaml before.yaml' } },
  discover: {
    before: {
      './exports': 'mkdir exports; command cp orders.csv exports',
      './report.xlsx': 'make_workbook report.xlsx',
      './shop.sqlite': 'command cp shop.db shop.sqlite',
    },
  },
  explain: { before: { 'sluice explain orders': 'deliver' } },
  health: { before: { 'sluice health': 'need_daemon' } },
  init: { before: { 'sluice init': 'command rm -f sluice.yaml shop.yaml; command cp shop.db shop.sqlite' } },
  quarantine: {
    before: { 'quarantine list': 'deliver; lose_rows; sluice sync', 'quarantine discard': 'lose_rows; sluice sync' },
  },
  reload: { before: { 'sluice check': 'daemon' } },
  restore: {
    before: {
      'before-upgrade':
        'command rm -rf backups; deliver; sluice backup /backups/before-upgrade; command rm -r sluice-state',
      '--replace': 'deliver',
      '--moved': 'sluice backup /backups/move; command rm -r sluice-state',
    },
  },
  resume: { before: { 'sluice resume': 'deliver; gain_row; sluice sync; sluice rollback orders' } },
  rollback: { before: { '--list': 'deliver; gain_row; sluice sync' } },
  state: { keeps: true, before: { 'state show': 'deliver' } },
  sync: { before: { 'sluice sync': 'sluice apply --yes' } },
};

/**
 * Lines, by location, that exit with a code other than 0, either because the page says so or because of this
 * environment.
 */
export const otherEnds: readonly { readonly words: RegExp; readonly code: number; readonly why: string }[] = [
  {
    words: /^before (docs\/guards|quarantine --help).*: sluice sync$/,
    code: 1,
    why: 'before a page about guards: the result is held back',
  },
  { words: /: sluice (history|rollback|explain) .*\b[0-9a-f-]{22,}$/, code: 2, why: 'the reader has their own ID' },
  { words: /: sluice alerts test/, code: 2, why: 'the config has no channel' },
  { words: /: sluice discover api /, code: 2, why: 'the config has no such source' },
  { words: /: sluice dead (show|send)/, code: 2, why: 'no payload is dead' },
  { words: /: curl .*huge/, code: 22, why: 'the page shows how errors are reported' },
  { words: /: curl .*\/requests\/wait/, code: 22, why: 'no upload arrives while it waits' },
  { words: /^docs\/service-control.*: curl .*\/profile$/, code: 56, why: 'the page shows how a response is lost' },
];

/** Commands in sentences that are only parsed, and why they aren't run. */
export const onlyParsed: readonly { readonly words: RegExp; readonly why: string }[] = [
  { words: /^(login|logins revoke)/, why: 'needs a vendor and a user' },
  { words: /^reload --fleet/, why: 'needs a state in a database' },
  { words: /^alerts test/, why: "sends to the reader's channel" },
];

/** Words in sentences that look like a command but aren't meant to be run. */
export const notTyped: readonly { readonly words: RegExp; readonly why: string }[] = [
  { words: /^npx sluice$/, why: 'names the command' },
  { words: /^(psql|curl)\b[^|]*\|/, why: 'names what Sluice is compared with' },
];
