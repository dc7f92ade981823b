import type { Bulletin } from '../../alerts/alert.ts';

/** Log fields for an alert that was just queued. */
export function raisedFacts({ occasion, kind, to, fresh, open, recovered }: Bulletin) {
  const mentions = kind === 'recovered' ? recovered : kind === 'reminder' ? open : fresh;
  return {
    occasion,
    kind,
    open: open.length,
    fresh: fresh.length,
    recovered: recovered.length,
    channels: to,
    subjects: mentions.slice(0, 10).map(({ subject }) => subject),
  };
}
