import { defineRetiredService } from '#sdk';

/**
 * Discontinued: only the name remains. The acquisition by Conductor in 2023 is general knowledge; the vendor didn't
 * publish a date.
 */
export default defineRetiredService({
  id: 'searchMetrics',
  title: 'Searchmetrics',
  summary: 'Read how well websites rank in search engines.',
  gone: 'Conductor acquired the company in 2023, and the API at api.searchmetrics.com is no longer available; the vendor did not publish a date.',
  instead:
    'The alternative is Conductor’s API, which has different reports and requires signed requests: this connector cannot read it.',
});
