/** The URL of an AWS service in a region, without a slash at the end. The regions in China have a domain of their own. */
export function awsUrl(service: string, region: string): string {
  return `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}
