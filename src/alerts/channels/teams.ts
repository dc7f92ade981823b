import type { AlertEvent } from '../channel.ts';
import { defineChannel } from '../channel.ts';
import { timeout, urlOf } from '../channel-options.ts';

const options = {
  url: urlOf(
    'URL of a workflow in Microsoft Teams that posts what it receives to a channel or chat.',
    'https://prod-01.westeurope.logic.azure.com/workflows/x/triggers/manual/paths/invoke',
  ),
  timeout_seconds: timeout,
};

/**
 * Posts an Adaptive Card in a message, which is what the workflow "Post to a channel when a webhook request is received"
 * expects. Incoming webhooks, which Microsoft is retiring, respond with status 200 even if Teams has rejected the card.
 */
export default defineChannel({
  options,
  async send(channel, { event }, around) {
    const { callUrl } = await import('../call-url.ts');
    // Teams counts two bytes per character unless the request names the encoding.
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const body = JSON.stringify(messageOf(event));
    const sent = await callUrl({ ...channel, method: 'POST', headers, body }, around);
    return sent.ok && /delivery failed/i.test(sent.message) ? { ok: false, message: sent.message } : sent;
  },
});

function messageOf({ type, data: { title, text } }: AlertEvent) {
  const [, ...lines] = text.trim().split('\n');
  const head = { text: `Sluice: ${title}`, weight: 'Bolder', size: 'Medium', color: colors[type] };
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: `Sluice: ${title}`,
    msteams: { width: 'Full' },
    body: [
      lineOf(head),
      ...lines.filter((line) => line !== '').map((line) => lineOf({ text: line, fontType: 'Monospace' })),
    ],
  };
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] };
}

const colors: Record<AlertEvent['type'], 'Attention' | 'Good' | 'Default'> = {
  'alert.opened': 'Attention',
  'alert.worse': 'Attention',
  'alert.reminder': 'Attention',
  'alert.recovered': 'Good',
  'alert.test': 'Default',
};

/** A line of its own. Unlike a `TextBlock`, its text isn't interpreted as Markdown. */
function lineOf(run: Readonly<Record<string, string>>) {
  return { type: 'RichTextBlock', spacing: 'None', inlines: [{ type: 'TextRun', ...run }] };
}
