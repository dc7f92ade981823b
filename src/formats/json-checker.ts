import type { CheckResult, FormatChecker } from './format.ts';
import { invalid } from './invalid.ts';
import { JsonSyntax } from './json-syntax.ts';
import { Utf8Gate } from './utf8-gate.ts';

/** Checks that a document is one JSON value as RFC 8259 has it. A byte order mark is refused, as `JSON.parse` does. */
export class JsonChecker implements FormatChecker {
  readonly #scanner = new JsonSyntax();
  readonly #gate = new Utf8Gate(
    (bytes) => this.#scanner.accept(bytes),
    () => invalid('JSON', 'a byte that is not UTF-8', this.#scanner.spot()),
  );

  write(chunk: Uint8Array): void {
    this.#gate.write(chunk);
  }

  end(): CheckResult {
    this.#gate.end();
    return { records: this.#scanner.end() };
  }
}
