import { defineChannel } from '../channel.ts';
import { timeout, urlOf } from '../channel-options.ts';

const options = {
  url: urlOf(
    'URL of an incoming webhook in Slack or a compatible service.',
    'https://hooks.slack.com/services/T0/B0/x',
  ),
  timeout_seconds: timeout,
};

/**
 * Posts `{"text": …}`, which is the format of Slack and compatible services (Mattermost, Rocket.Chat, Discord with
 * /slack).
 */
export default defineChannel({
  options,
  async send(channel, { event }, around) {
    const { callUrl } = await import('../call-url.ts');
    const { title, text } = event.data;
    const lines = text.split('\n').slice(1).join('\n').trim();
    const body = JSON.stringify({ text: `*Sluice: ${escaped(title)}*\n\`\`\`\n${escaped(lines)}\n\`\`\`` });
    return callUrl({ ...channel, method: 'POST', headers: { 'content-type': 'application/json' }, body }, around);
  },
});

/** Escapes code fences and the three characters that have a special meaning in Slack messages. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('```', "'''");
}
