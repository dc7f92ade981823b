import { defineRetiredService } from '#sdk';

/**
 * The service was discontinued, so only the connector's name remains. Conductor's acquisition of the service in 2023 is
 * general knowledge; the vendor didn't publish a date.
 */
export default defineRetiredService({
  id: 'searchMetrics',
  title: 'Searchmetrics',
  summary: 'Used to read how well websites rank in search engines.',
  gone: 'Conductor acquired Searchmetrics in 2023. The API at api.searchmetrics.com is no longer available; no shutdown date was published.',
  instead:
    'The alternative is Conductor’s API. It has different reports and requires signed requests, so this connector cannot read it.',
});
