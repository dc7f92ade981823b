/** Exceptions: which checks don't apply to which endpoint, and why that is correct. */
interface Waiver {
  readonly endpoints: readonly string[];
  readonly checks: readonly string[];
  readonly reason: string;
}

const foreign = "treats another company's IDs like unknown ones";
const foreignInside = "treats another company's IDs in query and body like unknown ones";
const clients = "returns 404 for a client's IDs without client_id, and works with it";
const unknown = 'returns 404 for an unknown ID at each position of its path';

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
    reason: "the document's table returns 401 for users of other companies here, not 404",
  },
  {
    endpoints: ['POST /klips/{id}/@/import'],
    checks: [foreign],
    reason: "the document's table returns 401 for what isn't shared with the caller or belongs to another company",
  },
  {
    endpoints: ['DELETE /klips/{id}/share-rights/{holder}', 'DELETE /tabs/{id}/share-rights/{holder}'],
    checks: [foreign],
    reason: "follows the document's rules for data sources: 403 for an existing group without access",
  },
  {
    endpoints: [
      'DELETE /datasources/{id}/share-rights',
      'DELETE /tabs/{id}/share-rights',
      'PUT /roles/{id}/users',
      'DELETE /roles/{id}/users',
    ],
    checks: ['works as declared', unknown, foreign, clients],
    reason: "its purpose is the document's 400 for an ID that is missing at the end of the path",
  },
  {
    endpoints: [
      'PUT /datasources/{id}/share-rights',
      'PUT /klips/{id}/share-rights',
      'DELETE /klips/{id}/share-rights',
      'PUT /tabs/{id}/share-rights',
    ],
    checks: [foreignInside],
    reason: "the document's table returns 403 for sharing across companies, and 404 for an unknown group",
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
    reason: 'a report on an unrelated company is refused with 403, on an unknown one with 404',
  },
];

/** The reason, by endpoint title and check title. */
export const waivers: Readonly<Record<string, string>> = Object.fromEntries(
  given.flatMap(({ endpoints, checks, reason }) =>
    endpoints.flatMap((endpoint) => checks.map((check) => [`${endpoint} ${check}`, reason] as const)),
  ),
);
