import { SaxesParser } from 'saxes';
import { openUtf8 } from '../records/encoding.ts';
import type { RecordInput } from '../records/input.ts';
import { localName } from '../records/xml-names.ts';
import { declaredEncoding } from '../records/xml-text.ts';

/** What a SOAP fault says (SOAP 1.1, 4.4; SOAP 1.2, part 1, 5.4). */
export interface SoapFault {
  /** Code, text and details, in one line. */
  readonly said: string;
  /** It blames the server. */
  readonly isPassing: boolean;
}

/**
 * The code of a fault that blames the server: the same request may succeed later. A code of the server's own is a kind of it
 * (`Server.Busy`); one without it (`Client`, `XMLAnalysisError.…`) is a fault that the server would find again.
 */
export const soapServerCode = /^(?:[\w.-]+:)?(?:Server|Receiver)(?:\.|$)/;

/** A fault is in the beginning of its answer. */
const lookedAtBytes = 64 * 1024;

/** The fault in an XML answer that may have any status; undefined if the answer is anything else. */
export async function readSoapFault(input: RecordInput, encoding?: string): Promise<SoapFault | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of openUtf8(input, { format: 'xml', encoding: encoding ?? declaredEncoding })) {
    parts.push(part);
    size += part.length;
    if (size >= lookedAtBytes) break;
  }
  return soapFaultIn(Buffer.concat(parts).toString('utf8'));
}

/** The fault in an answer; undefined if it is anything else. `text`: the answer, or its beginning. */
export function soapFaultIn(text: string): SoapFault | undefined {
  if (!/<(?:[\w.-]+:)?Fault[\s>]/.test(text)) return undefined;
  const fault = new Fault();
  try {
    fault.parser.write(text.replace(/^\uFEFF/, '').trimStart());
  } catch {
    // What came before may be a fault all the same.
  }
  return fault.found;
}

/** Collects the texts of a fault, by their place in it. */
class Fault {
  readonly parser = new SaxesParser();
  readonly #path: string[] = [];
  readonly #texts = new Map<string, string>();
  #isFault = false;

  constructor() {
    const { parser } = this;
    parser.on('error', (error) => {
      throw error;
    });
    parser.on('opentag', ({ name }) => this.#open(localName(name)));
    parser.on('closetag', () => this.#path.pop());
    parser.on('text', (text) => this.#add(text));
    parser.on('cdata', (text) => this.#add(text));
  }

  get found(): SoapFault | undefined {
    if (!this.#isFault) return undefined;
    const code = this.#text('faultcode') || this.#text('Code/Value');
    const words = this.#text('faultstring') || this.#text('Reason/Text');
    const details = [...this.#texts.keys()]
      .filter((place) => /^detail(?:\/|$)/i.test(place))
      .map((one) => this.#text(one));
    const said = [code, words, ...details].filter((one) => one !== '').join(': ');
    return { said, isPassing: soapServerCode.test(code) };
  }

  #open(name: string): void {
    this.#path.push(name);
    // Some servers leave the body out.
    this.#isFault ||= /^Envelope\/(?:Body\/)?Fault$/.test(this.#path.join('/'));
  }

  #add(text: string): void {
    if (!this.#isFault) return;
    const place = this.#path.slice(this.#path.indexOf('Fault') + 1).join('/');
    this.#texts.set(place, `${this.#texts.get(place) ?? ''}${text}`);
  }

  #text(place: string): string {
    return (this.#texts.get(place) ?? '').trim();
  }
}
