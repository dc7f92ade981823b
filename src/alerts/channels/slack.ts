import { callUrl } from '../call-url.ts';
import type { Send } from '../channel.ts';

/** Posts `{"text": …}`, the format of Slack and compatible services: Mattermost, Rocket.Chat, Discord (/slack). */
export const send: Send<'slack'> = (channel, { event }, around) => {
  const { title, text } = event.data;
  const lines = text.split('\n').slice(1).join('\n').trim();
  const body = JSON.stringify({ text: `*Sluice: ${escaped(title)}*\n\`\`\`\n${escaped(lines)}\n\`\`\`` });
  return callUrl({ ...channel, method: 'POST', headers: { 'content-type': 'application/json' }, body }, around);
};

/** The three characters that mean something in Slack's text, and the fence around ours. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('```', "'''");
}
