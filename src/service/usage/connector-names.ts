/** Names of the connectors that are in the vendor's gallery. */
const gallery: Readonly<Record<string, string>> = {
  box: 'Box',
  comscore: 'comScore',
  dropbox: 'Dropbox',
  facebook: 'Facebook',
  google_adwords: 'Google AdWords',
  google_analytics: 'Google Analytics',
  google_drive: 'Google Drive',
  google_spreadsheets: 'Google Sheets',
  hubspot: 'HubSpot',
  iformbuilder: 'iFormBuilder',
  marketo: 'Marketo',
  omniture: 'Omniture',
  radian6: 'Radian6',
  salesforce: 'Salesforce',
  searchMetrics: 'Searchmetrics',
  shopify: 'Shopify',
  survey_monkey: 'SurveyMonkey',
  versature: 'Versature',
  xero: 'Xero',
};

/** A connector's name in the usage reports. */
export function serviceName(connector: string): string {
  return gallery[connector] ?? 'Not Available';
}
