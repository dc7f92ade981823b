/** What isn't true for an endpoint, and why that is correct. */
interface Waiver {
  readonly endpoints: readonly string[];
  readonly checks: readonly string[];
  readonly reason: string;
}

const foreign = "answers for another company's ids as for unknown ones";
const foreignInside = "answers for another company's ids in query and body as for unknown ones";
const clients = "answers 404 for a client's ids without client_id, and works with it";
const unknown = 'answers 404 for an unknown id in each place of its path';

const given: readonly Waiver[] = [
  {
    endpoints: [
      'GET /datasources/{id}/share-rights',
      'PUT /datasources/{id}/share-rights',
      'DELETE /datasources/{id}/share-rights/{holder}',
      'GET /roles/{id}/users',
      'PUT /roles/{id}/users/{user}',
      'DELETE /roles/{id}/users/{user}',
    ],
    checks: [foreign, clients],
    reason: "the document's table answers users of other companies with 401 here, not with 404",
  },
  {
    endpoints: ['POST /klips/{id}/@/import'],
    checks: [foreign],
    reason: "the document's table answers 401 for what is not shared with the caller or is of another company",
  },
  {
    endpoints: ['DELETE /tabs/{id}/share-rights/{holder}'],
    checks: [foreign],
    reason:
      'follows what the document says of data sources: 403 for a group that there is and that it is not shared with',
  },
  {
    endpoints: [
      'DELETE /datasources/{id}/share-rights',
      'DELETE /tabs/{id}/share-rights',
      'PUT /roles/{id}/users',
      'DELETE /roles/{id}/users',
    ],
    checks: ['works as declared', unknown, foreign, clients],
    reason: 'it is there to say, with the 400 of the document, that an id is missing at the end of the path',
  },
  {
    endpoints: [
      'PUT /datasources/{id}/share-rights',
      'PUT /klips/{id}/share-rights',
      'DELETE /klips/{id}/share-rights',
      'PUT /tabs/{id}/share-rights',
    ],
    checks: [foreignInside],
    reason: "the document's table answers 403 for sharing across companies, and 404 for an unknown group",
  },
  {
    endpoints: [
      'GET /usage-details/api-calls',
      'GET /usage-details/published-link-views',
      'GET /usage-overview/account-stats',
      'GET /usage-overview/data-source-stats',
      'GET /usage-overview/api-usage',
      'GET /usage-overview/published-links',
      'GET /usage-overview/daily-client-trend',
      'GET /usage-overview/monthly-client-aggregate',
      'GET /usage-overview/account-sign-in-trend',
    ],
    checks: [foreignInside],
    reason: 'a report on a company that is not related is refused with 403, on one that there is not with 404',
  },
];

/** The reason by the title of the endpoint and of the check. */
export const waivers: Readonly<Record<string, string>> = Object.fromEntries(
  given.flatMap(({ endpoints, checks, reason }) =>
    endpoints.flatMap((endpoint) => checks.map((check) => [`${endpoint} ${check}`, reason] as const)),
  ),
);
