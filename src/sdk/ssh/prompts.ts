import type { Prompt } from 'ssh2';

/** Words for "password" in server prompts, in the languages into which PAM is most commonly translated. */
const passwordWords =
  /pass ?word|passwort|kennwort|mot de passe|contrase|senha|wachtwoord|lösenord|adgangskode|passord|salasana|has[łl]o|heslo|jelszó|parol|пароль|密码|密碼|パスワード|암호/i;
/** Words that indicate a second factor, which some servers also call a password. */
const codeWords = /one[- ]?time|\botp\b|passcode|\bcode\b|token|factor|challenge|\bnew\b|retype|again/i;

/**
 * The reaction to a server's prompts: the password, `again` if the password was already sent, or the prompt that asks
 * for something else.
 */
export type PromptsAnswer = 'password' | 'again' | { readonly asksFor: string };

/**
 * Answers the prompts of one login (RFC 4256): sends the password once, to a prompt that asks for one and doesn't echo
 * it.
 */
export class PromptAnswers {
  #hasAnswered = false;

  answer(prompts: readonly Prompt[]): PromptsAnswer {
    if (prompts.length === 0) return 'password';
    const other = prompts.find(({ prompt, echo }) => echo || !passwordWords.test(prompt) || codeWords.test(prompt));
    if (other !== undefined) return { asksFor: other.prompt };
    if (this.#hasAnswered || prompts.length > 1) return 'again';
    this.#hasAnswered = true;
    return 'password';
  }
}
