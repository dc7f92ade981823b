/**
 * Advice contains commands to type, such as `sluice sync orders`. If the process was started with another config file,
 * the commands must name that file too. Only the process knows the file, so it registers a rewrite here once, and all
 * output goes through {@link advised}.
 */

type Rewrite = (text: string, encode: (inserted: string) => string) => string;

let carry: Rewrite = (text) => text;

/**
 * Sets the rewrite for all texts with advice, and returns the previous one. It must be idempotent and pass everything
 * it inserts through `encode`.
 */
export function rewriteAdvice(rewrite: Rewrite): Rewrite {
  const former = carry;
  carry = rewrite;
  return former;
}

/** The text with its commands as this user must type them. Only for our own texts, never for rows or logs. */
export function advised(text: string): string {
  return carry(text, (inserted) => inserted);
}

/** Like {@link advised}, for one of our JSON documents. */
export function advisedJson(document: string): string {
  return carry(document, (inserted) => JSON.stringify(inserted).slice(1, -1));
}
