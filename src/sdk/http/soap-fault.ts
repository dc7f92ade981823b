import { SaxesParser } from 'saxes';
import { openUtf8 } from '../records/encoding.ts';
import type { RecordInput } from '../records/input.ts';
import { localName } from '../records/xml-names.ts';
import { declaredEncoding } from '../records/xml-text.ts';

/** The content of a SOAP fault (SOAP 1.1, 4.4; SOAP 1.2, part 1, 5.4). */
export interface SoapFault {
  /** The code, text and details, on one line. */
  readonly summary: string;
  /** True if it blames the server. */
  readonly isPassing: boolean;
}

/**
 * Fault codes that blame the server, so that the same request may succeed later. A server's own code can be a subcode
 * (`Server.Busy`). Any other code (`Client`, `XMLAnalysisError.…`) means that the same request will fail again.
 */
export const soapServerCode = /^(?:[\w.-]+:)?(?:Server|Receiver)(?:\.|$)/;

/** Only the beginning of a response is searched for a fault. */
const lookedAtBytes = 64 * 1024;

/** The fault in an XML response, whatever its status; undefined if the response is anything else. */
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

/** The fault in a response; undefined if there is none. `text`: the response, or its beginning. */
export function soapFaultIn(text: string): SoapFault | undefined {
  if (!/<(?:[\w.-]+:)?Fault[\s>]/.test(text)) return undefined;
  const fault = new Fault();
  try {
    fault.parser.write(text.replace(/^\uFEFF/, '').trimStart());
  } catch {
    // The text before the syntax error may still contain a fault.
  }
  return fault.found;
}

/** Collects the text of a fault's elements, by path. */
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
    const summary = [code, words, ...details].filter((one) => one !== '').join(': ');
    return { summary, isPassing: soapServerCode.test(code) };
  }

  #open(name: string): void {
    this.#path.push(name);
    // Some servers omit the Body element.
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
