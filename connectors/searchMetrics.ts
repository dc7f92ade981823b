import { defineRetiredService } from '#sdk';

/** Known by name alone. That Conductor took it over in 2023 is general knowledge; no notice of the vendor names a day. */
export default defineRetiredService({
  id: 'searchMetrics',
  title: 'Searchmetrics',
  summary: 'Read how well websites rank in search engines.',
  gone: 'Conductor acquired the company in 2023, and the API at api.searchmetrics.com is no longer available; the vendor published no date.',
  instead:
    'The alternative is the API of Conductor. It has other reports and signed requests, so this connector cannot read it.',
});
